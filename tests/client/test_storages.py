"""What scripts ask of the memory behind a tensor."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import gradd
import pytest
from gradd._surface import storages


def test_addresses_tell_who_shares_memory(T: Any) -> None:
    x, y = T.arange(6.0), T.arange(6.0)
    assert x.data_ptr() == x.view(2, 3).data_ptr() == x.detach().data_ptr()
    assert x[2:].data_ptr() - x.data_ptr() == 8
    assert x.data_ptr() % 64 == 0
    assert abs(x.data_ptr() - y.data_ptr()) >= 24
    assert T.empty(0).data_ptr() == 0
    assert x.clone().data_ptr() != x.data_ptr()
    model = T.nn.Linear(2, 2)
    tied = T.nn.Linear(2, 2)
    tied.weight = model.weight
    assert len({p.data_ptr() for m in (model, tied) for p in m.parameters()}) == 3


def test_the_size_of_an_object_counts_its_memory(T: Any) -> None:
    small, large = (T.zeros(n).untyped_storage() for n in (4, 104))
    assert sys.getsizeof(large) - sys.getsizeof(small) == 400


def test_a_storage_is_asked_and_compared(T: Any) -> None:
    x = T.arange(6.0)
    storage = x[2:].untyped_storage()
    assert T.is_storage(storage)
    assert not T.is_storage(x)
    assert storage.nbytes() == storage.size() == len(storage) == 24
    assert storage.data_ptr() == x.data_ptr() == x.untyped_storage().data_ptr()
    assert str(storage.device) == "cpu"
    assert (storage.is_cuda, storage.is_shared(), storage.is_pinned()) == (False,) * 3
    assert storage.element_size() == 1
    assert storage.tolist()[4:8] == [0, 0, 128, 63]


def test_a_tensor_is_set_to_other_memory(T: Any) -> None:
    x, y = T.arange(6.0), T.zeros(2)
    assert y.set_(x) is y
    y[0] = 7
    assert (tuple(y.shape), x[0].item()) == ((6,), 7.0)
    assert y.is_set_to(x)
    assert not y.is_set_to(x[1:])
    assert not y.is_set_to(x.clone())
    y.set_(x.untyped_storage(), 1, (2, 2), (1, 1))
    assert y.tolist() == [[1.0, 2.0], [2.0, 3.0]]
    y.set_(x, 2, (2, 2), (2, 1))
    assert y.tolist() == [[2.0, 3.0], [4.0, 5.0]]
    y.set_(x.untyped_storage())
    assert y.tolist() == x.tolist()
    assert tuple(y.set_().shape) == (0,)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
        T.ones(2, requires_grad=True).set_(x)
    with pytest.raises(RuntimeError, match="Could not set tensor of type long int to a tensor of type float"):
        y.set_(T.arange(3))


def test_where_it_lies(T: Any) -> None:
    x = T.ones(3)
    assert not x.is_shared()
    assert not x.is_pinned()
    assert (x.get_device(), x.element_size(), x.nbytes, x.storage_offset()) == (-1, 4, 12, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert x.share_memory_() is x


def test_what_has_no_effect_or_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storages, "_told", [])
    with gradd.connect("local:"):
        x = gradd.ones(3)
        assert x.pin_memory() is x
        x.record_stream(None)
        with pytest.warns(UserWarning, match="a forked process reaches the same tensors"):
            x.share_memory_()
        storage = x.untyped_storage()
        assert repr(storage) == "[torch.storage.UntypedStorage(device=cpu) of size 12]"
        assert storage == x[1:].untyped_storage()
        assert hash(storage) == hash(x[1:].untyped_storage())
        assert storage != gradd.ones(3).untyped_storage()
        storage.resize_(12)
        with pytest.raises(NotImplementedError, match="keeps its size"):
            storage.resize_(24)
        with pytest.raises(NotImplementedError, match="cannot be written to"):
            storage.copy_(storage)
        with pytest.raises(NotImplementedError, match="made by tensors"):
            gradd.UntypedStorage(4)
        with pytest.raises(TypeError, match="argument 'source'"):
            x.set_(3)


def test_the_default_type_by_its_name(T: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            T.set_default_tensor_type("torch.DoubleTensor")
            assert T.ones(1).dtype == T.get_default_dtype() == T.float64
            T.set_default_tensor_type(T.FloatTensor)
            assert T.ones(1).dtype == T.float32
            with pytest.raises(
                TypeError, match=r"^only floating-point types are supported as the default type"
            ):
                T.set_default_tensor_type("torch.IntTensor")
            for wrong in (T.float32, 3):
                with pytest.raises(TypeError, match="invalid type object: only floating-point types"):
                    T.set_default_tensor_type(wrong)
        finally:
            T.set_default_dtype(T.float32)

"""Typed storages, which older scripts print and write to."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import gradd
import pytest
from gradd._surface import typed_storages


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def test_its_elements_are_those_of_the_memory(T: Any) -> None:
    x = T.arange(6.0).reshape(2, 3)
    storage = x[1].storage()
    assert storage.tolist() == list(storage) == [0, 1, 2, 3, 4, 5]
    assert (len(storage), storage.size(), storage.nbytes(), storage.element_size()) == (6, 6, 24, 4)
    assert (storage[1], storage[-1]) == (1, 5)
    assert storage.dtype is T.float32
    assert storage.data_ptr() == x.data_ptr() == storage.untyped().data_ptr()
    assert T.is_storage(storage)
    assert T.tensor([1, 2]).storage().tolist() == [1, 2]  # of a tensor that nobody keeps


def test_writing_to_it_is_writing_to_the_tensor(T: Any) -> None:
    x = T.zeros(2, 3)
    storage = x.storage()
    storage[0] = 7
    storage[1:3] = 5
    assert x.tolist() == [[7, 5, 5], [0, 0, 0]]
    assert storage.fill_(2) is storage
    assert x.sum() == 12
    storage.copy_(T.FloatStorage([1, 2, 3, 4, 5, 6]))
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    storage.clone()[0] = 9
    assert x[0, 0] == 1


def test_autograd_does_not_see_it(T: Any) -> None:
    w = T.ones(3, requires_grad=True)
    loss = (w * w).sum()
    w.storage()[1] = 5
    loss.backward()
    assert w.grad.tolist() == [2, 10, 2]


def test_a_tensor_can_be_set_to_it(T: Any) -> None:
    x = T.arange(6.0)
    y = T.empty(0).set_(x.storage(), 1, (2, 2), (1, 2))
    assert y.tolist() == [[1, 3], [2, 4]]
    y[0, 0] = 99
    assert x[1] == 99


def test_classes(T: Any) -> None:
    storage = T.ones(2).storage()
    assert isinstance(storage, T.FloatStorage)
    assert isinstance(storage, T.TypedStorage)
    assert not isinstance(storage, T.LongStorage)
    assert isinstance(storage.long(), T.LongStorage)
    assert T.ones(2).storage_type() is T.FloatStorage
    assert (storage.type(), storage.pickle_storage_type()) == ("torch.FloatStorage", "FloatStorage")
    assert repr(T.FloatStorage) == "<class 'torch.FloatStorage'>"
    assert (T.LongStorage(4).size(), T.DoubleStorage().size()) == (4, 0)
    assert T.BoolStorage([True, False]).tolist() == [True, False]


def test_how_it_is_printed(T: Any) -> None:
    assert repr(T.tensor([1.0, 2.5]).storage()) == (
        " 1.0\n 2.5\n[torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 2]"
    )
    assert repr(T.tensor([1 + 2j]).storage()).startswith(" (1+2j)\n")
    assert repr(T.zeros(0).storage()).startswith(" \n[")


def test_what_is_refused(T: Any) -> None:
    storage = T.ones(3).storage()
    with pytest.raises(IndexError, match=r"^index 17 out of range for storage of size 3$"):
        storage[17]
    with pytest.raises(RuntimeError, match=r"^slices are only supported in UntypedStorage\.__getitem__$"):
        storage[1:2]
    with pytest.raises(RuntimeError, match=r"^can't index a <class 'torch\.storage\.Typed"):
        storage["a"]
    with pytest.raises(RuntimeError, match=r"Too many positional arguments$"):
        T.FloatStorage(1, 2)
    with pytest.raises(RuntimeError, match=r"Keyword argument 'dtype' cannot be specified$"):
        T.FloatStorage(1, dtype=T.int64)
    with pytest.raises(TypeError, match=r"invalid data type 'str'$"):
        T.FloatStorage("a")


def test_it_warns_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed_storages, "_told", [])
    with gradd.connect("local:"):
        x = gradd.ones(2)
        with pytest.warns(UserWarning, match=r"^TypedStorage is deprecated\.") as told:
            x.storage()
        assert [w.filename for w in told] == [__file__]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            x.storage()


def test_it_keeps_its_size() -> None:
    with gradd.connect("local:"):
        storage = gradd.ones(2).storage()
        storage.resize_(2)
        with pytest.raises(NotImplementedError, match="keeps its size"):
            storage.resize_(3)

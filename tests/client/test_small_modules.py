"""torch's small modules by their names: version, types, hub, serialization, multiprocessing, _pytree."""

from __future__ import annotations

import argparse
import io
import os
import pickle
import signal
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Iterator
from typing import Any

import gradd
import pytest

from tests.oracle import ITSELF, module


@pytest.fixture(params=["gradd", *ITSELF])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "torch":
        yield module()
        return
    with gradd.connect("local:"):
        yield gradd


Pair = namedtuple("Pair", "left right")


def test_trees_are_taken_apart_and_put_together(T: Any) -> None:
    trees = T.utils._pytree
    nested = {
        "b": [1, (2, 3)],
        "a": Pair(4, OrderedDict(x=5)),
        "d": deque([6], 2),
        "f": defaultdict(list, g=7),
    }
    leaves, spec = trees.tree_flatten(nested)
    assert leaves == [1, 2, 3, 4, 5, 6, 7]
    assert spec.num_leaves == 7
    assert not spec.is_leaf()
    again = trees.tree_unflatten([n * 2 for n in leaves], spec)
    assert again == {
        "b": [2, (4, 6)], "a": Pair(8, OrderedDict(x=10)), "d": deque([12]), "f": {"g": 14},
    }  # fmt: skip
    assert [type(v) for v in again.values()] == [list, Pair, deque, defaultdict]
    assert again["d"].maxlen == 2
    assert trees.tree_leaves(None) == [None]
    with pytest.raises(
        ValueError, match=r"`leaves` has length 1 but the spec refers to a pytree that holds 7"
    ):
        trees.tree_unflatten([1], spec)


def test_trees_are_mapped(T: Any) -> None:
    trees = T.utils._pytree
    nested = {"a": T.ones(2), "b": [T.zeros(1), 3]}
    doubled = trees.tree_map(lambda x: x * 2, nested)
    assert (doubled["a"].tolist(), doubled["b"][1]) == ([2.0, 2.0], 6)
    assert trees.tree_map(lambda x, y: x + y, {"a": 1, "b": [2]}, {"b": [10], "a": 20}) == {
        "a": 21,
        "b": [12],
    }
    only = trees.tree_map_only(int, lambda x: -x, nested)
    assert only["b"][1] == -3
    assert only["a"] is nested["a"]
    assert trees.tree_all(lambda x: x > 0, [1, {"a": 2}])
    assert not trees.tree_any(lambda x: x > 2, [1, {"a": 2}])
    assert trees.tree_map(len, [(1, 2), (3,)], is_leaf=lambda x: isinstance(x, tuple)) == [2, 1]
    with pytest.raises(ValueError):  # noqa: PT011 - each tells it in words of its own
        trees.tree_map(max, [1, 2], [1])


def test_backends_of_attention_may_be_named(T: Any) -> None:
    from_attention = T.nn.attention
    if T is not gradd:
        import torch.nn.attention as from_attention
    backend = from_attention.SDPBackend
    assert [f"{b} {int(b)}" for b in backend.__members__.values()] == [
        "SDPBackend.ERROR -1", "SDPBackend.MATH 0", "SDPBackend.FLASH_ATTENTION 1",
        "SDPBackend.EFFICIENT_ATTENTION 2", "SDPBackend.CUDNN_ATTENTION 3", "SDPBackend.OVERRIDEABLE 4",
    ]  # fmt: skip
    q = T.ones(1, 1, 2, 4)
    with from_attention.sdpa_kernel([backend.MATH, backend.FLASH_ATTENTION]):
        assert T.nn.functional.scaled_dot_product_attention(q, q, q).sum().item() == 8
    with (
        pytest.raises(
            AssertionError, match="instance of SDPBackend or a list of SDPBackend instances, got str"
        ),
        from_attention.sdpa_kernel("math"),
    ):
        raise NotImplementedError("it is entered")


def test_classes_that_are_called_safe_are_made_with_weights_alone(T: Any) -> None:
    def again() -> Any:
        file.seek(0)
        return T.load(file)

    file = io.BytesIO()
    T.save({"args": argparse.Namespace(a=1)}, file)
    with T.serialization.safe_globals([argparse.Namespace]):
        assert again() == {"args": argparse.Namespace(a=1)}
        assert argparse.Namespace in T.serialization.get_safe_globals()
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        again()
    T.serialization.add_safe_globals([argparse.Namespace])
    try:
        assert again()["args"].a == 1
    finally:
        T.serialization.clear_safe_globals()
    assert argparse.Namespace not in T.serialization.get_safe_globals()


def test_old_comparison_takes_other_dtypes(T: Any) -> None:
    with pytest.warns(FutureWarning, match="assert_allclose"):
        T.testing.assert_allclose(T.ones(2), [1, 1])
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="Tensor-likes are not close"):
        T.testing.assert_allclose(T.ones(2), T.tensor([1.0, 2.0]))


def test_versions_and_types_have_their_names() -> None:
    assert gradd.version.__version__ == gradd.__version__
    assert (gradd.version.cuda, gradd.version.debug) == (None, False)
    assert isinstance(3, gradd.types.Number)
    with gradd.connect("local:"):
        assert [gradd.ones(1).is_xpu, gradd.ones(1).is_mps] == [False, False]
        assert gradd.FloatTensor([1], device="cpu").dtype is gradd.float32


# -- processes -------------------------------------------------------------------------------------


def adds(index: int, queue: Any, more: int) -> None:
    queue.put(index + more)


def raises(index: int) -> None:
    if index == 1:
        raise LookupError("of child 1")


def ends(index: int, how: str) -> None:
    if how == "signal":
        os.kill(os.getpid(), signal.SIGTERM)
    sys.exit(3)


def test_processes_are_spawned(T: Any) -> None:
    mp = T.multiprocessing
    queue = mp.get_context("fork").SimpleQueue()
    assert mp.start_processes(adds, (queue, 10), nprocs=2, start_method="fork") is None
    assert {queue.get(), queue.get()} == {10, 11}


def test_a_child_that_raises_is_told(T: Any) -> None:
    mp = T.multiprocessing
    with pytest.raises(mp.ProcessRaisedException, match=r"-- Process 1 terminated with") as told:
        mp.start_processes(raises, nprocs=2, start_method="fork")
    assert "LookupError: of child 1" in str(told.value)
    assert told.value.error_index == 1
    waits = mp.start_processes(ends, ("exit",), join=False, start_method="fork")
    with pytest.raises(mp.ProcessExitedException, match=r"^process 0 terminated with exit code 3$"):
        waits.join()
    with pytest.raises(
        mp.ProcessExitedException, match=r"^process 0 terminated with signal SIGTERM$"
    ) as killed:
        mp.start_processes(ends, ("signal",), start_method="fork")
    assert (killed.value.exit_code, killed.value.signal_name) == (-signal.SIGTERM, "SIGTERM")


def test_multiprocessing_is_pythons(T: Any) -> None:
    mp = T.multiprocessing
    assert mp.cpu_count() > 0
    assert mp.get_start_method(allow_none=True) in (None, "fork", "spawn", "forkserver")
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    with pytest.raises(AssertionError):
        mp.set_sharing_strategy("by magic")


def test_what_this_runs_on_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    from gradd.utils import collect_env

    with gradd.connect("local:"):
        collect_env.main()
        found = collect_env.get_env_info()
    told = capsys.readouterr().out
    for part in (found.torch_version, found.python_version, "Is CUDA available: False", "[pip3] numpy=="):
        assert part in told
    assert found.session == "on cpu"

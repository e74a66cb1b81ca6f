"""A world of one process, on both modules: PyTorch's runs over gloo on the loopback interface."""

from __future__ import annotations

import importlib
import socket
from collections.abc import Iterator
from typing import Any

import gradd
import pytest


@pytest.fixture
def world(T: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`distributed` with a group of one, as torchrun starts it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, value in {
        "RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
        "GLOO_SOCKET_IFNAME": "lo",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    T.distributed.init_process_group("gloo")
    yield T.distributed
    if T.distributed.is_initialized():
        T.distributed.destroy_process_group()


def test_before_there_is_a_group(T: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dist = T.distributed
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert dist.is_available()
    assert not dist.is_initialized()
    for ask in (dist.get_rank, dist.get_world_size, dist.get_backend, dist.barrier):
        with pytest.raises(ValueError, match="Default process group has not been initialized, please make"):
            ask()
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        dist.all_reduce(T.ones(2))
    with pytest.raises(AssertionError, match="Process group cannot be None"):
        dist.destroy_process_group()
    with pytest.raises(
        ValueError, match="env:// rendezvous: environment variable RANK expected, but not set"
    ):
        dist.init_process_group("gloo")


def test_what_a_group_says(T: Any, world: Any) -> None:
    assert world.is_initialized()
    assert (world.get_rank(), world.get_world_size(), world.get_backend()) == (0, 1, "gloo")
    assert world.get_process_group_ranks(None) == [0]
    assert world.group.WORLD is world.GroupMember.WORLD
    assert isinstance(world.group.WORLD, world.ProcessGroup)
    own = world.new_group([0])
    assert (own.rank(), own.size(), world.get_rank(own), world.get_global_rank(own, 0)) == (0, 1, 0, 0)
    assert world.Backend("GLOO") == world.Backend.GLOO == "gloo"
    assert not world.is_torchelastic_launched()
    with pytest.raises(ValueError, match="trying to initialize the default process group twice!"):
        world.init_process_group("gloo")
    world.destroy_process_group()
    assert not world.is_initialized()


def test_reductions_and_broadcasts_leave_what_there_is(T: Any, world: Any) -> None:
    x = T.arange(3.0)
    for op in (world.ReduceOp.SUM, world.ReduceOp.MAX, world.ReduceOp.PRODUCT):
        assert world.all_reduce(x, op=op) is None
    work = world.all_reduce(x, async_op=True)
    assert work.wait()
    assert work.is_completed()
    world.broadcast(x, src=0)
    world.reduce(x, dst=0)
    world.barrier()
    assert x.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(RuntimeError, match="broadcast: invalid root rank: 1"):
        world.broadcast(x, src=1)
    with pytest.raises(TypeError, match=r"Expected parameter `tensor` of type torch\.Tensor"):
        world.all_reduce([x])


def test_gathered_and_scattered_tensors_are_copied(T: Any, world: Any) -> None:
    x, out = T.arange(3.0), T.zeros(3)

    def sent(move: Any) -> list[float]:
        out.zero_()
        move()
        found: list[float] = out.tolist()
        return found

    same = [0.0, 1.0, 2.0]
    assert sent(lambda: world.all_gather([out], x)) == same
    assert sent(lambda: world.gather(x, [out], dst=0)) == same
    assert sent(lambda: world.scatter(out, [x])) == same
    assert sent(lambda: world.reduce_scatter(out, [x])) == same
    assert sent(lambda: world.all_to_all([out], [x])) == same
    assert sent(lambda: world.all_gather_single(out, x)) == same
    assert sent(lambda: world.reduce_scatter_single(out, x)) == same
    assert sent(lambda: world.all_to_all_single(out, x)) == same
    with pytest.raises(RuntimeError, match=r"invalid tensor size at index 0 \(expected \(3\), got \(2\)\)"):
        world.all_gather([T.zeros(2)], x)
    with pytest.raises(
        RuntimeError, match=r"invalid output tensor list at index 0 \(expected length 1, got 0"
    ):
        world.all_gather([], x)
    with pytest.raises(ValueError, match="Argument ``gather_list`` must be specified on destination rank"):
        world.gather(x)
    with pytest.raises(ValueError, match="Argument ``scatter_list`` must be specified on source rank"):
        world.scatter(out)
    with pytest.raises(ValueError, match="Invalid usage of tensors with different dtypes"):
        world.all_gather([T.zeros(3, dtype=T.int32)], x)


def test_objects_arrive_as_copies(T: Any, world: Any) -> None:
    sent = {"loss": [1.0]}
    found: list[Any] = [None]
    world.all_gather_object(found, sent)
    assert found == [sent]
    assert found[0] is not sent
    world.gather_object("a", found, dst=0)
    assert found == ["a"]
    world.scatter_object_list(found, [{"b": 1}], src=0)
    world.broadcast_object_list(found, src=0)
    assert found == [{"b": 1}]


@pytest.mark.filterwarnings("ignore:torch.distributed.nn:FutureWarning")
def test_gradients_pass_through_collectives(T: Any, world: Any) -> None:
    moves = importlib.import_module(f"{T.__name__}.distributed.nn.functional")
    x = T.tensor([1.0, 2.0], requires_grad=True)
    found = [
        moves.all_reduce(x), moves.reduce(x, 0), moves.broadcast(x, 0), moves.scatter([x]),
        *moves.all_gather(x), *moves.gather(x), moves.reduce_scatter(T.zeros(2), [x]),
        *moves.all_to_all([T.zeros(2)], [x]), moves.all_to_all_single(T.zeros(2), x),
    ]  # fmt: skip
    assert [y.tolist() for y in found] == [[1.0, 2.0]] * 9
    assert all(y is not x for y in found)
    sum(i * (y * y).sum() for i, y in enumerate(found)).backward()
    assert x.grad.tolist() == [72.0, 144.0]


def test_larger_worlds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    dist = gradd.distributed
    for size in (2, 8):
        with pytest.raises(NotImplementedError, match=f"process groups of one process, not of {size}"):
            dist.init_process_group("nccl", world_size=size, rank=0)
    with pytest.raises(ValueError, match="Invalid rank 1"):
        dist.init_process_group("nccl", world_size=1, rank=1)
    with pytest.raises(ValueError, match="rank and world_size are needed"):
        dist.init_process_group("gloo", "tcp://127.0.0.1:1")
    dist.init_process_group("nccl", "tcp://127.0.0.1:1", world_size=1, rank=0)
    try:
        assert dist.get_backend() == "nccl"
        with gradd.connect("local:"):
            for move, word in ((dist.send, "destination"), (dist.irecv, "source")):
                with pytest.raises(ValueError, match=f"{word} rank should not be the same as the rank"):
                    move(gradd.ones(1), 0)
        with pytest.raises(ValueError, match="rank should be within the world_size"):
            dist.new_group([0, 1])
        with pytest.raises(ValueError, match="Global rank 1 is not part of group"):
            dist.get_group_rank(dist.group.WORLD, 1)
        with gradd.connect("local:"):
            x, out = gradd.ones(2), gradd.zeros(1, 2)
            dist.all_gather_into_tensor(out, x)
            dist.reduce_scatter_tensor(x, out * 2)
            assert (out.tolist(), x.tolist()) == ([[1.0, 1.0]], [2.0, 2.0])
    finally:
        dist.destroy_process_group()
    assert dist.is_backend_available("NCCL")
    assert (dist.is_nccl_available(), dist.is_mpi_available(), dist.is_ucc_available()) == (False,) * 3
    assert dist.is_gloo_available()

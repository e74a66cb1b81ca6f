"""Packed sequences, and recurrent layers over them: as each sequence alone, on PyTorch and on gradd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd
import numpy as np
import pytest

RNG = np.random.default_rng(11)
LENGTHS = [2, 4, 1, 4]
PADDED = RNG.normal(size=(4, 4, 3)).astype("float32")


LINES = {
    "pack(x, [3, 2, 1, 1])": (
        "PackedSequence(data=tensor([0., 1., 2., 3., 4., 5., 8.]), batch_sizes=tensor([4, 2, 1]), "
        "sorted_indices=None, unsorted_indices=None)"
    ),
    "pack(x, T.tensor([1, 3, 2, 3]), enforce_sorted=False)": (
        "PackedSequence(data=tensor([ 1.,  3.,  2.,  0.,  5.,  7.,  6.,  9., 11.]), "
        "batch_sizes=tensor([4, 3, 2]), sorted_indices=tensor([1, 3, 2, 0]), "
        "unsorted_indices=tensor([3, 0, 2, 1]))"
    ),
    "pack(x, [2, 4, 1], batch_first=True, enforce_sorted=False).data": "tensor([4., 0., 8., 5., 1., 6., 7.])",
    "pack(x, list(T.tensor([3, 2, 1, 1]))).batch_sizes, pack(x, np.array([1, 1, 1, 1])).batch_sizes": (
        "(tensor([4, 2, 1]), tensor([4]))"
    ),
    "pack(T.ones(2, 2, 3, dtype=T.int32), [2, 1]).data.shape": "torch.Size([3, 3])",
    "pad(p)[0].tolist()": "[[0.0, 1.0, 2.0, 3.0], [0.0, 5.0, 6.0, 7.0], [0.0, 9.0, 0.0, 11.0]]",
    "pad(p, True, -1, 5)[0][0], pad(p)[1]": "(tensor([ 0., -1., -1., -1., -1.]), tensor([1, 3, 2, 3]))",
    "pad(rnn.PackedSequence(x[0], T.tensor([2, 2])))": (
        "(tensor([[0., 1.],\n        [2., 3.]]), tensor([2, 2]))"
    ),
    "rnn.unpack_sequence(p)": (
        "[tensor([0.]), tensor([1., 5., 9.]), tensor([2., 6.]), tensor([ 3.,  7., 11.])]"
    ),
    "rnn.pack_sequence([T.tensor([1, 2]), T.tensor([3, 4, 5])], enforce_sorted=False)": (
        "PackedSequence(data=tensor([3, 1, 4, 2, 5]), batch_sizes=tensor([2, 2, 1]), "
        "sorted_indices=tensor([1, 0]), unsorted_indices=tensor([1, 0]))"
    ),
    "rnn.PackedSequence((x, T.tensor([1]))).batch_sizes": "tensor([1])",
    "rnn.invert_permutation(T.tensor([2, 0, 1])), rnn.invert_permutation(None)": "(tensor([1, 2, 0]), None)",
    "p.double().data.dtype, p.int().data.dtype, p.half().data.dtype, p.to(T.float64).data.dtype": (
        "(torch.float64, torch.int32, torch.float16, torch.float64)"
    ),
    "p.long().batch_sizes, p.float() is p, p.cpu() is p, p.is_cuda, p.is_pinned(), p._fields": (
        "(tensor([4, 3, 2]), True, True, False, False, "
        "('data', 'batch_sizes', 'sorted_indices', 'unsorted_indices'))"
    ),
    "isinstance(p, tuple), isinstance(p, rnn.PackedSequence), len(p)": "(True, True, 4)",
}
REFUSED = {
    "pack(x, [1, 2, 3, 1])": (
        "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
        "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if "
        "you do not need ONNX exportability."
    ),
    "pack(x, [3, 2, 1])": "Expected `len(lengths)` to be equal to batch_size, but got 3 (batch_size=4)",
    "pack(x, [3, 2, 1, 0])": (
        "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
    ),
    "pack(x, [[1]])": "'lengths' argument should be a 1D CPU int64 tensor, but got 2D cpu Long tensor",
    "pad(p, total_length=2)": (
        "Expected total_length to be at least the length of the longest sequence in input, but got "
        "total_length=2 and max sequence length being 3"
    ),
    "rnn.PackedSequence(x)": "Expected data to be a list or tuple of length 2",
    "T.nn.GRU(1, 2)(pack(x, [3, 2, 1, 1]))": "input must have 2 dimensions, got 1",
    "T.nn.GRU(1, 2)(pack(T.zeros(3, 2, 5), [3, 2]))": (
        "input.size(-1) must be equal to input_size. Expected 1, got 5"
    ),
    "T.nn.GRU(1, 2)(pack(T.zeros(3, 4, 1), [3, 2, 1, 1]), T.zeros(1, 3, 2))": (
        "Expected hidden size (1, 4, 2), got [1, 3, 2]"
    ),
}


def value(T: Any, line: str) -> Any:
    rnn = T.nn.utils.rnn
    x = T.arange(12.0).view(3, 4)
    p = rnn.pack_padded_sequence(x, T.tensor([1, 3, 2, 3]), enforce_sorted=False)
    names = {"T": T, "np": np, "rnn": rnn, "x": x, "p": p}
    return eval(line, names | {"pack": rnn.pack_padded_sequence, "pad": rnn.pad_packed_sequence})


@pytest.mark.parametrize("line", LINES)
def test_what_packing_gives(T: Any, line: str) -> None:
    assert repr(value(T, line)) == LINES[line]


@pytest.mark.parametrize("line", REFUSED)
def test_what_packing_refuses(T: Any, line: str) -> None:
    with pytest.raises((RuntimeError, ValueError, AssertionError, IndexError)) as raised:
        value(T, line)
    assert str(raised.value) == REFUSED[line]


LAYERS: dict[str, Callable[[Any], Any]] = {
    "RNN": lambda nn: nn.RNN(3, 4),
    "RNN, relu, two ways": lambda nn: nn.RNN(3, 4, 2, "relu", bidirectional=True),
    "GRU": lambda nn: nn.GRU(3, 4, num_layers=2, bias=False),
    "GRU, two ways": lambda nn: nn.GRU(3, 4, 2, batch_first=True, bidirectional=True),
    "LSTM": lambda nn: nn.LSTM(3, 4, 2, batch_first=True),
    "LSTM, two ways, dropout of nothing": lambda nn: nn.LSTM(3, 4, 2, dropout=0.0, bidirectional=True),
    "LSTM, projected": lambda nn: nn.LSTM(3, 4, 2, proj_size=2, bidirectional=True),
}


def flat(found: Any) -> list[Any]:
    return [t for part in found for t in flat(part)] if isinstance(found, tuple) else [found]


def _started(T: Any, layer: Any, batch: int) -> Any:
    """States to begin with."""
    ways = 4 if layer.bidirectional else layer.num_layers
    rng = np.random.default_rng(3)
    sizes = [layer.proj_size or layer.hidden_size, layer.hidden_size][: 2 if layer.mode == "LSTM" else 1]
    made = tuple(T.tensor(rng.normal(size=(ways, batch, n)).astype("float32")) for n in sizes)
    return made if len(made) > 1 else made[0]


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize("given", [False, True], ids=["from zeros", "from states"])
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_over_packed_sequences_gives_what_it_gives_for_each(T: Any, name: str, given: bool) -> None:
    rnn = T.nn.utils.rnn
    layer = LAYERS[name](T.nn)
    first = layer.batch_first
    x = T.tensor(PADDED, requires_grad=True)
    packed = rnn.pack_padded_sequence(x, LENGTHS, batch_first=first, enforce_sorted=False)
    start = _started(T, layer, 4) if given else None
    out, last = layer(packed, start)
    assert isinstance(out, rnn.PackedSequence)
    padded, lengths = rnn.pad_packed_sequence(out, batch_first=first)
    assert lengths.tolist() == LENGTHS
    (padded.square().sum() + sum(s.square().sum() for s in flat(last))).backward()
    found = [p.grad.tolist() for p in layer.parameters()]
    of_x = x.grad.tolist()

    layer.zero_grad()
    alone = T.tensor(PADDED, requires_grad=True)
    total = 0
    for i, n in enumerate(LENGTHS):
        one = (alone if first else alone.transpose(0, 1))[i : i + 1, :n]
        states = [s[:, i : i + 1].contiguous() for s in flat(start)] if given else None
        begun = None if states is None else states[0] if len(states) == 1 else tuple(states)
        want, ends = layer(one if first else one.transpose(0, 1), begun)
        got = padded[i, :n] if first else padded[:n, i]
        np.testing.assert_allclose(
            got.detach().numpy(), want.squeeze(0 if first else 1).detach().numpy(), rtol=1e-4, atol=1e-6
        )
        for a, b in zip(flat(last), flat(ends), strict=True):
            np.testing.assert_allclose(
                a[:, i].detach().numpy(), b[:, 0].detach().numpy(), rtol=1e-4, atol=1e-6
            )
        total = total + want.square().sum() + sum(s.square().sum() for s in flat(ends))
    total.backward()
    np.testing.assert_allclose(np.array(of_x), alone.grad.numpy(), rtol=1e-3, atol=1e-5)
    for a, p in zip(found, layer.parameters(), strict=True):
        np.testing.assert_allclose(np.array(a), p.grad.numpy(), rtol=1e-3, atol=1e-5)


def test_dropout_between_layers_drops(T: Any) -> None:
    layer = T.nn.GRU(3, 4, 2, dropout=1.0)
    packed = T.nn.utils.rnn.pack_padded_sequence(T.tensor(PADDED), LENGTHS, enforce_sorted=False)
    trained = layer(packed)[0].data
    assert not T.equal(layer.eval()(packed)[0].data, trained)
    layer.zero_grad()
    trained.sum().backward()
    assert layer.weight_ih_l1.grad.abs().sum().item() == 0


def test_packing_lists_waits_for_nothing() -> None:
    with gradd.connect("local:") as session:
        layer = gradd.nn.GRU(3, 4)
        x = gradd.tensor(PADDED)
        before = session.stats()["round_trips"]
        rnn = gradd.nn.utils.rnn
        out, _ = layer(rnn.pack_padded_sequence(x, LENGTHS, enforce_sorted=False))
        padded, lengths = rnn.pad_packed_sequence(out)
        again = rnn.PackedSequence(out.data * 2, out.batch_sizes, out.sorted_indices)
        packed = rnn.pack_padded_sequence(*rnn.pad_packed_sequence(again), enforce_sorted=False)
        assert len(rnn.unpack_sequence(packed)) == len(LENGTHS)
        assert session.stats()["round_trips"] == before
        assert (padded.shape, lengths.shape) == ((4, 4, 4), (4,))


def test_changed_sizes_are_read_again() -> None:
    with gradd.connect("local:"):
        rnn = gradd.nn.utils.rnn
        packed = rnn.pack_padded_sequence(gradd.arange(4.0).view(2, 2), [2, 2])
        assert rnn.pad_packed_sequence(packed)[1].tolist() == [2, 2]
        packed.batch_sizes[1] = 1
        fewer = rnn.PackedSequence(packed.data[:3], packed.batch_sizes)
        assert rnn.pad_packed_sequence(fewer)[1].tolist() == [2, 1]


@pytest.mark.parametrize(
    ("rows", "batch", "sizes"),
    [(3, 2, [1, 2]), (3, 2, []), (2, 2, [2, 0]), (3, 2, [3]), (4, 2, [2, 1]), (3, None, [2, 1])],
)
def test_sizes_that_are_no_packed_batch_are_refused(rows: int, batch: int | None, sizes: list[int]) -> None:
    with gradd.connect("local:"):
        layer = gradd.nn.GRU(3, 4)
        hx = gradd.zeros(4) if batch is None else gradd.zeros(1, batch, 4)
        how = (layer._flat_weights, True, 1, 0.0, True, False, False)
        with pytest.raises(RuntimeError, match="batch_sizes"):
            gradd.gru(gradd.ones(rows, 3), hx, *how, batch_sizes=sizes)

"""Attention and transformers: PyTorch's results and gradients from its weights, its text and its checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest

RNG = np.random.default_rng(6)
X = RNG.normal(size=(3, 2, 8)).astype("float32")
Y = RNG.normal(size=(4, 2, 8)).astype("float32")
KEYS, VALUES = (RNG.normal(size=(4, 2, n)).astype("float32") for n in (6, 5))
PADDING = np.asarray([[False, False, True, False], [False, False, False, True]])
PAIRS = RNG.normal(size=(3, 4)).astype("float32")


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def pair(torch: Any, make: Callable[[Any], Any]) -> tuple[Any, Any]:
    """gradd's module with the weights of torch's, none of them constant, and torch's."""
    mine, theirs = make(gradd.nn), make(torch.nn)
    assert repr(mine) == repr(theirs)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    with torch.no_grad():
        for p in theirs.parameters():
            p.add_(torch.linspace(-0.1, 0.2, p.numel()).reshape(p.shape))
    mine.load_state_dict({n: gradd.from_numpy(v.numpy()) for n, v in theirs.state_dict().items()})
    return mine, theirs


def compare(torch: Any, mine: Any, theirs: Any, run: Callable[[Any, Any], Any]) -> None:
    found = [run(mine, gradd.tensor), run(theirs, torch.tensor)]
    for out in found:
        out = out if isinstance(out, tuple) else (out,)
        sum((t * t).sum() for t in out if t is not None).backward()
    got, want = (out if isinstance(out, tuple) else (out,) for out in found)
    for a, b in zip(got, want, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=2e-5, atol=2e-6)
    for (name, p), q in zip(mine.named_parameters(), theirs.parameters(), strict=True):
        if q.grad is not None:
            np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=2e-4, atol=1e-4, err_msg=name)


ATTENTION: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "self": (lambda nn: nn.MultiheadAttention(8, 2), lambda m, t: m(t(X), t(X), t(X))),
    "no weights": (
        lambda nn: nn.MultiheadAttention(8, 2),
        lambda m, t: m(
            t(X), t(Y), t(Y), need_weights=False, attn_mask=t(PAIRS > 0.9), key_padding_mask=t(PADDING)
        ),
    ),
    "masks": (
        lambda nn: nn.MultiheadAttention(8, 2),
        lambda m, t: m(t(X), t(Y), t(Y), key_padding_mask=t(PADDING), attn_mask=t(PAIRS > 0.9)),
    ),
    "heads apart": (
        lambda nn: nn.MultiheadAttention(8, 4, bias=False),
        lambda m, t: m(t(X), t(Y), t(Y), attn_mask=t(np.tile(PAIRS, (8, 1, 1))), average_attn_weights=False),
    ),
    "other sizes": (
        lambda nn: nn.MultiheadAttention(8, 2, kdim=6, vdim=5, add_bias_kv=True, add_zero_attn=True),
        lambda m, t: m(t(X), t(KEYS), t(VALUES), key_padding_mask=t(PADDING), attn_mask=t(PAIRS)),
    ),
    "batch first": (
        lambda nn: nn.MultiheadAttention(8, 2, batch_first=True),
        lambda m, t: m(t(X), t(X), t(X), need_weights=False),
    ),
    "no batch": (lambda nn: nn.MultiheadAttention(8, 2), lambda m, t: m(t(X[0]), t(X[0]), t(X[0]))),
}
LAYERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "encoder": (
        lambda nn: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
        lambda m, t: m(t(X)),
    ),
    "encoder, normalised first": (
        lambda nn: nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", norm_first=True, bias=False),
        lambda m, t: m(t(Y), src_key_padding_mask=t(PADDING)),
    ),
    "decoder": (
        lambda nn: nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0),
        lambda m, t: m(t(X), t(Y), tgt_mask=t(PAIRS[:, :3]), memory_key_padding_mask=t(PADDING)),
    ),
    "encoders": (
        lambda nn: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 16, 0.0), 2, nn.LayerNorm(8), enable_nested_tensor=False
        ),
        lambda m, t: m(t(Y), src_key_padding_mask=t(PADDING)),
    ),
    "decoders": (
        lambda nn: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0), 2),
        lambda m, t: m(t(X), t(Y), t(PAIRS[:, :3])),
    ),
    "both": (
        lambda nn: nn.Transformer(8, 2, 1, 2, 16, 0.0, batch_first=True),
        lambda m, t: m(t(X), t(X), tgt_mask=m.generate_square_subsequent_mask(X.shape[1])),
    ),
    "both, one of them given": (
        lambda nn: nn.Transformer(
            8,
            2,
            1,
            1,
            16,
            0.0,
            "gelu",
            bias=False,
            custom_encoder=nn.TransformerEncoder(
                nn.TransformerEncoderLayer(8, 2, 16, 0.0), 1, enable_nested_tensor=False
            ),
        ),
        lambda m, t: m(t(Y), t(X), src_key_padding_mask=t(PADDING), memory_key_padding_mask=t(PADDING)),
    ),
}


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:Support for mismatched key_padding_mask")
@pytest.mark.parametrize("name", ATTENTION)
def test_attention_follows_torch(torch: Any, name: str) -> None:
    make, run = ATTENTION[name]
    compare(torch, *pair(torch, make), run)


@pytest.mark.oracle
@pytest.mark.parametrize("name", LAYERS)
def test_layers_follow_torch(torch: Any, name: str) -> None:
    make, run = LAYERS[name]
    compare(torch, *pair(torch, make), run)


def test_masks_of_two_kinds_warn() -> None:
    with pytest.warns(UserWarning, match="Support for mismatched key_padding_mask and attn_mask"):
        ATTENTION["other sizes"][1](gradd.nn.MultiheadAttention(8, 2, kdim=6, vdim=5), gradd.tensor)


def test_dropout_while_training() -> None:
    layer = gradd.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5)
    x = gradd.tensor(X)
    assert not gradd.equal(layer(x), layer(x))
    layer.eval()
    assert gradd.equal(layer(x), layer(x))


WRONG: list[Callable[[Any, Any], Any]] = [
    lambda T, m: T.nn.MultiheadAttention(7, 2),
    lambda T, m: T.nn.MultiheadAttention(0, 2),
    lambda T, m: T.nn.TransformerEncoderLayer(8, 2, activation="x"),
    lambda T, m: T.nn.Transformer(8, 2, 1, 1, 8, batch_first=True)(T.zeros(2, 3, 8), T.zeros(1, 3, 8)),
    lambda T, m: T.nn.Transformer(8, 2, 1, 1, 8, batch_first=True)(T.zeros(2, 3, 8), T.zeros(2, 3, 6)),
    lambda T, m: m(T.zeros(8), T.zeros(8), T.zeros(8)),
    lambda T, m: m(T.zeros(3, 8), T.zeros(3, 2, 8), T.zeros(3, 8)),
    lambda T, m: m(T.zeros(3, 2, 8), T.zeros(3, 8), T.zeros(3, 8)),
    lambda T, m: m(T.zeros(3, 2, 8), T.zeros(4, 2, 8), T.zeros(3, 2, 8)),
    lambda T, m: m(T.zeros(3, 2, 6), T.zeros(3, 2, 6), T.zeros(3, 2, 6)),
    lambda T, m: m(*[T.zeros(3, 2, 8)] * 3, attn_mask=T.zeros(2, 2)),
    lambda T, m: m(*[T.zeros(3, 2, 8)] * 3, attn_mask=T.zeros(2, 3, 3)),
    lambda T, m: m(*[T.zeros(3, 2, 8)] * 3, attn_mask=T.zeros(3, 3, dtype=T.int64)),
    lambda T, m: m(*[T.zeros(3, 2, 8)] * 3, key_padding_mask=T.zeros(2, 2)),
    lambda T, m: m(*[T.zeros(3, 2, 8)] * 3, key_padding_mask=T.zeros(3, 3)),
    lambda T, m: m(*[T.zeros(3, 2, 8)] * 3, key_padding_mask=T.zeros(3)),
    lambda T, m: m(*[T.zeros(3, 8)] * 3, key_padding_mask=T.zeros(1, 3)),
    lambda T, m: m(*[T.zeros(3, 2, 8)] * 3, is_causal=True),
]


@pytest.mark.oracle
@pytest.mark.parametrize("make", WRONG)
def test_misuse_is_told_in_torchs_words(torch: Any, make: Callable[[Any, Any], Any]) -> None:
    told = []
    for T in (gradd, torch):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - class and text are what the test compares
            make(T, T.nn.MultiheadAttention(8, 2))
        told.append((caught.type, str(caught.value)))
    assert told[0] == told[1]

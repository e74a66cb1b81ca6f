"""Which ops autocast computes in the lower dtype, in float32, or as they come: PyTorch's lists.

PyTorch's own answers for a GPU come from its fake tensors, which need none.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

import gradd
import pytest

from tests.oracle import ITSELF, module

#: each line of a script, and the dtype of its result on a CPU and on a GPU; "error" where it raises
LINES = {
    "x @ h": ("bfloat16", "float16"),
    "T.mm(x, h)": ("bfloat16", "float16"),
    "T.mv(x, w)": ("error", "float16"),
    "T.dot(v, w)": ("error", "float32"),
    "T.bmm(b, lb)": ("bfloat16", "float16"),
    "T.addmm(h, x, x)": ("bfloat16", "float16"),
    "T.baddbmm(lb, b, b)": ("bfloat16", "float16"),
    "T.addmv(w, x, v)": ("error", "float16"),
    "T.addr(h, v, v)": ("float32", "float16"),
    "T.einsum('ij,jk->ik', x, x)": ("bfloat16", "float16"),
    "T.tensordot(x, x, 1)": ("bfloat16", "float32"),
    "T.linalg.multi_dot([x, x, h])": ("error", "float16"),
    "T.linalg.vecdot(x, x)": ("bfloat16", "float16"),
    "T.linalg.cross(h, h, dim=0)": ("bfloat16", "float16"),
    "F.linear(x, h)": ("bfloat16", "float16"),
    "F.conv1d(b, b)": ("bfloat16", "float16"),
    "F.conv2d(im, lim)": ("bfloat16", "float16"),
    "F.conv_transpose2d(im, im)": ("bfloat16", "float16"),
    "F.prelu(x, v.sum(0, keepdim=True))": ("bfloat16", "float16"),
    "F.scaled_dot_product_attention(b, b, lb)": ("bfloat16", "float16"),
    'F.interpolate(lim, scale_factor=2, mode="bilinear")': ("bfloat16", "float32"),
    'F.interpolate(lim, scale_factor=2, mode="bicubic")': ("bfloat16", "float32"),
    'F.pad(lim, (1, 1, 1, 1), mode="reflect")': ("float32", "float16"),
    'F.pad(lim, (1, 1, 1, 1), mode="replicate")': ("float32", "float16"),
    'F.pad(lim, (1, 1, 1, 1), mode="circular")': ("bfloat16", "float16"),
    "F.mse_loss(h, h)": ("float32", "float32"),
    "F.l1_loss(h, x)": ("float32", "float32"),
    "F.smooth_l1_loss(h, h)": ("float32", "float32"),
    "F.huber_loss(h, h)": ("float32", "float32"),
    "F.cross_entropy(h, n)": ("float32", "float32"),
    "F.nll_loss(h, n)": ("float32", "float32"),
    'F.kl_div(h, h, reduction="batchmean")': ("float32", "float32"),
    "F.binary_cross_entropy_with_logits(h, h)": ("float32", "float32"),
    "F.cosine_embedding_loss(h, h, n.sign())": ("float32", "float32"),
    "F.hinge_embedding_loss(h, n.sign())": ("float32", "float32"),
    "F.margin_ranking_loss(w, w, n.sign())": ("float32", "float32"),
    "F.triplet_margin_loss(h, h, h)": ("float32", "float32"),
    "F.soft_margin_loss(h, n.sign())": ("float32", "float32"),
    "F.poisson_nll_loss(h, h)": ("float32", "float32"),
    "h.exp()": ("bfloat16", "float32"),
    "h.expm1()": ("bfloat16", "float32"),
    "h.log()": ("bfloat16", "float32"),
    "h.log2()": ("bfloat16", "float32"),
    "h.log10()": ("bfloat16", "float32"),
    "h.log1p()": ("bfloat16", "float32"),
    "h.rsqrt()": ("bfloat16", "float32"),
    "h.sqrt()": ("bfloat16", "float16"),
    "h.reciprocal()": ("bfloat16", "float32"),
    "h.sin()": ("bfloat16", "float16"),
    "h.tan()": ("bfloat16", "float32"),
    "h.sinh()": ("bfloat16", "float32"),
    "h.cosh()": ("bfloat16", "float32"),
    "h.tanh()": ("bfloat16", "float16"),
    "h.asin()": ("bfloat16", "float32"),
    "h.acos()": ("bfloat16", "float32"),
    "h.erfinv()": ("bfloat16", "float32"),
    "h ** 2": ("bfloat16", "float32"),
    "h.pow(2.5)": ("bfloat16", "float32"),
    "2 ** h": ("bfloat16", "float32"),
    "h.sum()": ("bfloat16", "float32"),
    "h.sum(0, dtype=T.float64)": ("float64", "float64"),
    "h.mean()": ("bfloat16", "float16"),
    "h.prod()": ("float32", "float32"),
    "h.cumsum(0)": ("bfloat16", "float32"),
    "h.cumprod(0)": ("bfloat16", "float32"),
    "h.norm()": ("bfloat16", "float32"),
    "T.linalg.vector_norm(h)": ("bfloat16", "float32"),
    "T.linalg.matrix_norm(h)": ("bfloat16", "float32"),
    "T.dist(h, h)": ("bfloat16", "float32"),
    "T.renorm(h, 2, 0, 1.0)": ("bfloat16", "float32"),
    "h.softmax(0)": ("bfloat16", "float32"),
    "h.log_softmax(0)": ("bfloat16", "float32"),
    "F.softmin(h, 0)": ("bfloat16", "float32"),
    "h.logsumexp(0)": ("bfloat16", "float32"),
    "F.softplus(h)": ("bfloat16", "float32"),
    "F.layer_norm(h, (3,))": ("bfloat16", "float32"),
    "F.rms_norm(h, (3,))": ("bfloat16", "float32"),
    "F.group_norm(h, 1)": ("bfloat16", "float32"),
    "F.cosine_similarity(h, h)": ("bfloat16", "float32"),
    "F.normalize(h)": ("bfloat16", "float32"),
    "F.gelu(h)": ("bfloat16", "float16"),
    "F.relu(h)": ("bfloat16", "float16"),
    "F.sigmoid(h)": ("bfloat16", "float16"),
    "F.silu(h)": ("bfloat16", "float16"),
    "F.dropout(h)": ("bfloat16", "float16"),
    "F.interpolate(lim, size=5)": ("bfloat16", "float32"),
    "T.addcmul(h, x, x)": ("float32", "float32"),
    "T.addcdiv(h, h, h)": ("bfloat16", "float16"),
    "T.atan2(h, x)": ("float32", "float32"),
    "T.cat([h, x])": ("float32", "float32"),
    "T.cat([h, h])": ("bfloat16", "float16"),
    "T.stack([x, h])": ("float32", "float32"),
    "h.trace()": ("float32", "float16"),
    "h + x": ("float32", "float32"),
    "h * 2": ("bfloat16", "float16"),
    "h.scatter_add(0, n.reshape(1, 3), x)": ("error", "float32"),
    "h.index_put((n,), x)": ("error", "float32"),
    "T.quantile(x, 0.5)": ("float32", "float32"),
    "x.double() @ x.double()": ("float64", "float64"),
    "n + n": ("int64", "int64"),
}
LOWER = {"cpu": "bfloat16", "cuda": "float16"}


@contextlib.contextmanager
def _on(T: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tensors of `T` are on such a device, or say so."""
    if T is gradd:
        with gradd.connect("local:") as session:
            monkeypatch.setattr(session.backend, "device", gradd.device(kind))
            yield
    elif kind == "cpu":
        yield
    else:
        with importlib.import_module("torch._subclasses.fake_tensor").FakeTensorMode():
            yield


def _given(T: Any, kind: str) -> dict[str, Any]:
    """Tensors in float32 and in the lower dtype, of several dimensions, and numbers of classes."""
    x, v = (T.ones(*shape, device=kind) / 4 for shape in ((3, 3), (3,)))
    b, im = (T.ones(*shape, device=kind) / 4 for shape in ((1, 3, 3), (1, 1, 3, 3)))
    h, w, lb, lim = (t.to(getattr(T, LOWER[kind])) for t in (x, v, b, im))
    names = {"x": x, "v": v, "b": b, "im": im, "h": h, "w": w, "lb": lb, "lim": lim}
    return {**names, "T": T, "F": T.nn.functional, "n": T.arange(3, device=kind)}


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
@pytest.mark.parametrize("which", [*ITSELF, "gradd"])
def test_each_op_computes_in_the_dtype_of_its_list(
    which: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    T = gradd if which == "gradd" else module()
    different = []
    with _on(T, kind, monkeypatch):
        given = _given(T, kind)
        T.set_autocast_dtype(kind, getattr(T, LOWER[kind]))
        T.set_autocast_enabled(kind, True)
        try:
            for line, on_each in LINES.items():
                want = on_each[kind == "cuda"]
                try:
                    found = str(eval(line, given).dtype).removeprefix("torch.")
                except (RuntimeError, NotImplementedError) as error:
                    found = "error" if want == "error" else str(error)
                if found != want:
                    different.append((line, want, found))
        finally:
            T.set_autocast_enabled(kind, False)
    assert not different
    assert not T.is_autocast_enabled(kind)

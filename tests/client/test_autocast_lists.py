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

#: each line of a script, and the dtype of its result on a CPU and on a GPU; "error" where it raises, "" where
#: nothing is said, and "*" where PyTorch only answers with a GPU
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
    "F.ctc_loss(lb.transpose(0, 1), n[1:2].reshape(1, 1), (3,), (1,))": ("float32", ""),
    "F.grid_sample(lim, im.expand(1, 3, 3, 3)[:, :, :, :2], align_corners=False)": ("float32", "float32*"),
    "F.grid_sample(lim, lim.expand(1, 3, 3, 3).permute(0, 2, 3, 1)[..., :2], align_corners=False)": (
        "float32",
        "float16*",
    ),
    "F.grid_sample(lvol, vol.expand(1, 3, 3, 3, 3).permute(0, 2, 3, 4, 1), align_corners=False)": (
        "float32",
        "float32",
    ),
    "F.multi_margin_loss(h, n)": ("float32", "float32"),
    "F.multilabel_margin_loss(h, n.expand(3, 3))": ("float32", "float32"),
    "F.multilabel_soft_margin_loss(h, h)": ("bfloat16", "float32"),
    "F.gaussian_nll_loss(h, h, h)": ("bfloat16", ""),
    "F.avg_pool2d(lim, 2)": ("bfloat16", "float16"),
    "F.avg_pool3d(lvol, 2)": ("float32", ""),
    "F.max_pool2d(lim, 2)": ("bfloat16", "float16"),
    "F.max_pool3d(lvol, 2)": ("float32", "float16"),
    "F.max_pool3d(lvol, 2, return_indices=True)[0]": ("bfloat16", "float16"),
    "F.adaptive_avg_pool2d(lim, 2)": ("bfloat16", "float16"),
    "F.adaptive_avg_pool3d(lvol, 2)": ("float32", "float16"),
    "F.adaptive_max_pool1d(lb, 2)": ("bfloat16", "float16"),
    "F.adaptive_max_pool2d(lim, 2)": ("bfloat16", "float16"),
    "F.adaptive_max_pool3d(lvol, 2)": ("float32", "float16"),
    "F.adaptive_max_pool3d(lvol, 2, return_indices=True)[0]": ("float32", "float16"),
    "F.max_unpool1d(lb[..., :1], n[:1].expand(1, 3, 1), 3)": ("float32", ""),
    "F.max_unpool2d(lim[..., :1, :1], n[:1].expand(1, 1, 1, 1), 2)": ("float32", ""),
    "F.max_unpool3d(lvol[..., :1, :1, :1], n[:1].expand(1, 1, 1, 1, 1), 2)": ("float32", ""),
    "F.lp_pool2d(lim, 2.0, 2)": ("bfloat16", "float32"),
    "T.fft.fft(h)": ("complex64", ""),
    "T.fft.ifft(h)": ("complex64", ""),
    "T.fft.rfft(h)": ("complex64", ""),
    "T.fft.irfft(h)": ("float32", ""),
    "T.fft.hfft(h)": ("float32", ""),
    "T.fft.ihfft(h)": ("complex64", ""),
    "T.fft.fft2(h)": ("complex64", ""),
    "T.fft.ifft2(h)": ("complex64", ""),
    "T.fft.rfft2(h)": ("complex64", ""),
    "T.fft.irfft2(h)": ("float32", ""),
    "T.fft.fftn(h)": ("complex64", ""),
    "T.fft.ifftn(h)": ("complex64", ""),
    "T.fft.rfftn(h)": ("complex64", ""),
    "T.fft.irfftn(h)": ("float32", ""),
    "T.fft.fftshift(h)": ("bfloat16", "float16"),
    "T.stft(w, 2, 1, window=w[:2], return_complex=True)": ("complex64", ""),
    "T.stft(w, 2, 1, window=w[:2], center=False, return_complex=True)": ("complex64", ""),
    "F.bilinear(h, x, vol[0, 0], v)": ("", "float32*"),
    "F.bilinear(h, h, lvol[0, 0], w)": ("bfloat16", "float16*"),
    "T.bilinear(h, x, vol[0, 0], v)": ("", "float32*"),
    "F.interpolate(lb, scale_factor=2)": ("bfloat16", "float32"),
    "F.interpolate(lvol, scale_factor=2)": ("bfloat16", "float32"),
    'F.interpolate(lb, scale_factor=2, mode="linear")': ("bfloat16", "float32"),
    'F.interpolate(lvol, scale_factor=2, mode="trilinear")': ("bfloat16", "float32"),
    'F.interpolate(lim, scale_factor=2, mode="nearest-exact")': ("bfloat16", "float32"),
    'F.interpolate(lb, scale_factor=2, mode="nearest-exact")': ("bfloat16", "float32"),
    'F.interpolate(lvol, scale_factor=2, mode="nearest-exact")': ("bfloat16", "float32"),
    'F.interpolate(lim, scale_factor=2, mode="bilinear", antialias=True)': ("", "float32"),
    'F.interpolate(lim, scale_factor=2, mode="bicubic", antialias=True)': ("", "float32"),
    'F.pad(lb, (1, 1), mode="reflect")': ("float32", "float16"),
    'F.pad(lvol, (1, 1, 1, 1, 1, 1), mode="reflect")': ("", "float16"),
    'F.pad(lb, (1, 1), mode="replicate")': ("float32", "float16"),
    'F.pad(lvol, (1, 1, 1, 1, 1, 1), mode="replicate")': ("float32", "float16"),
    "F.pad(lim, (1, 1, 1, 1))": ("bfloat16", "float16"),
    'F.conv1d(b, b, padding="same")': ("bfloat16", "float16"),
    'F.conv2d(im, lim, padding="same")': ("bfloat16", "float16"),
    "F.conv3d(vol, lvol)": ("bfloat16", "float16"),
    'F.conv3d(vol, lvol, padding="same")': ("bfloat16", "float16"),
    "F.conv_transpose1d(b, lb.transpose(0, 1))": ("bfloat16", "float16"),
    "F.conv_transpose3d(vol, vol)": ("bfloat16", "float16"),
    "T.addbmm(x, lb, b)": ("bfloat16", "float16"),
    "T.chain_matmul(x, x, h)": ("error", "float16"),
    "T.cdist(h, h)": ("float32", "float32"),
    "F.pdist(h)": ("", "float32"),
    "T.cross(h, x, dim=0)": ("", "float32"),
    "T.vdot(v, w)": ("error", "float32"),
    "T.linalg.cholesky(eye)": ("float32", ""),
    "T.linalg.cholesky_ex(eye)[0]": ("float32", ""),
    "T.linalg.cond(eye)": ("float32", ""),
    'T.linalg.cond(eye, "fro")': ("float32", ""),
    "T.linalg.eig(eye)[0]": ("complex64", ""),
    "T.linalg.eigh(eye)[0]": ("float32", ""),
    "T.linalg.eigvals(eye)": ("complex64", ""),
    "T.linalg.eigvalsh(eye)": ("float32", ""),
    "T.linalg.householder_product(eye, w)": ("float32", ""),
    "T.linalg.inv(eye)": ("float32", ""),
    "T.linalg.inv_ex(eye)[0]": ("float32", ""),
    "T.linalg.lstsq(eye, h)[0]": ("float32", ""),
    "T.linalg.matrix_rank(eye)": ("int64", ""),
    "T.linalg.qr(eye)[0]": ("float32", ""),
    "T.linalg.solve(eye, h)": ("float32", ""),
    "T.linalg.svd(eye)[1]": ("float32", ""),
    "T.linalg.svdvals(eye)": ("float32", ""),
    "T.linalg.tensorinv(eye, ind=1)": ("float32", ""),
    "T.linalg.tensorsolve(eye, w)": ("float32", ""),
    "T.linalg.det(x)": ("float32", "float32"),
    "T.linalg.norm(h)": ("bfloat16", "float32"),
    "T.cholesky(eye)": ("float32", ""),
    "T.cholesky_inverse(eye)": ("float32", "float16"),
    "T.cholesky_solve(h, eye)": ("float32", "float16"),
    "T.inverse(eye)": ("float32", ""),
    "T.pinverse(eye)": ("float32", ""),
    "T.orgqr(eye, w)": ("float32", ""),
    "T.ormqr(eye, w, h)": ("float32", ""),
    "T.geqrf(eye)[0]": ("float32", ""),
    "T.qr(eye)[0]": ("float32", ""),
    "T.svd(eye)[1]": ("float32", ""),
    "T.triangular_solve(h, eye)[0]": ("float32", ""),
    "T.lu_solve(h, eye, n.int() + 1)": ("float32", "float16"),
    "T.polar(h, h)": ("complex64", ""),
    "T.view_as_complex(h[:, :2].contiguous())": ("complex64", ""),
    "T.nanquantile(h, 0.5)": ("float32", ""),
    "T.quantile(h, 0.5)": ("float32", ""),
    "T.nanquantile(h, w[:2], dim=0)": ("float32", ""),
    "T.quantile(h, w[:2], dim=0)": ("float32", ""),
    "T.index_copy(h, 0, n, x)": ("float32", ""),
    "h.prod(0)": ("float32", "float32"),
    "T.frobenius_norm(h, 0)": ("bfloat16", "float32"),
    "T.nuclear_norm(h.float())": ("float32", "float32"),
    "h.norm(2, 0)": ("bfloat16", "float32"),
    "h.norm(2)": ("bfloat16", "float32"),
    "h.sum(0)": ("bfloat16", "float32"),
    "T.rnn_tanh_cell(h, h, x, x)": ("bfloat16", "float16"),
    "T.rnn_relu_cell(h, h, x, x)": ("bfloat16", "float16"),
    "T.gru_cell(h, h, x.repeat(3, 1), x.repeat(3, 1))": ("bfloat16", ""),
    "T.lstm_cell(h, (h, h), x.repeat(4, 1), x.repeat(4, 1))[0]": ("bfloat16", ""),
    "F.binary_cross_entropy(h, h)": ("float32", ""),
    "T.istft(T.stft(v, 2, 1, window=v[:2], return_complex=True), 2, 1, window=v[:2])": ("float32", ""),
    "T.nn.GRUCell(3, 3)(h, h)": ("bfloat16", ""),
    "F.nll_loss(lim.expand(1, 3, 3, 3), n.reshape(1, 3, 1).expand(1, 3, 3))": ("float32", "float32"),
    "F.embedding_bag(n.reshape(1, 3), h)": ("bfloat16", "float16"),
    "F.local_response_norm(lb, 2)": ("bfloat16", "float32"),
    "F.instance_norm(lb)": ("bfloat16", "float16"),
    "F.batch_norm(lb, None, None, training=True)": ("bfloat16", "float16"),
    "T.cov(h)": ("bfloat16", ""),
    "T.inner(h, x)": ("", "float32"),
    "T.outer(w, v)": ("float32", "float32"),
    "T.kron(h, x)": ("float32", "float32"),
    "T.matrix_exp(h)": ("bfloat16", "float16"),
    "T.matrix_power(h, 2)": ("bfloat16", "float16"),
    "T.logcumsumexp(h, 0)": ("bfloat16", "float16"),
    "T.cummax(h, 0)[0]": ("bfloat16", "float16"),
    "T.std(h)": ("bfloat16", "float16"),
    "T.var(h)": ("bfloat16", "float16"),
    "T.nansum(h)": ("bfloat16", "float16"),
    "T.erf(h)": ("bfloat16", "float16"),
    "T.sigmoid(h)": ("bfloat16", "float16"),
    "T.atan(h)": ("bfloat16", "float16"),
    "T.lerp(h, h, w)": ("bfloat16", "float16"),
    "T.where(n > 0, h, w)": ("bfloat16", "float16"),
    "T.hypot(h, h)": ("bfloat16", "float16"),
    "T.index_add(h, 0, n, h)": ("bfloat16", "float16"),
    "T.scatter(h, 0, n.reshape(1, 3), h)": ("bfloat16", "float16"),
    "h[n]": ("bfloat16", ""),
    "T.tensordot(h, h, 1)": ("bfloat16", "float16"),
    'T.einsum("ij,ij->ij", h, x)': ("float32", "float16"),
    "T.dot(w, w)": ("bfloat16", "float16"),
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
    vol = T.ones(1, 1, 3, 3, 3, device=kind) / 4
    names |= {"vol": vol, "lvol": vol.to(h.dtype), "eye": T.eye(3, device=kind).to(h.dtype)}
    return {**names, "T": T, "F": T.nn.functional, "n": T.arange(3, device=kind)}


@pytest.mark.filterwarnings("ignore::UserWarning")  # of old names
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
                if not want or (want.endswith("*") and T is not gradd):
                    continue
                want = want.rstrip("*")
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


#: ops of PyTorch's lists that nobody calls by these names, and those that gradd does not have
ELSEWHERE = {
    "_addmm_activation": "what compilers make of linear and gelu",
    "_grid_sampler_2d_cpu_fallback": "what grid_sampler computes on some CPUs",
    "_lu_with_info": "an old name of lu_factor",
    "_native_multi_head_attention": "a layer's inner loop without gradients",
    "_scaled_dot_product_flash_attention": "what scaled_dot_product_attention computes",
    "_thnn_fused_gru_cell": "what gru_cell computes on a GPU",
    "_thnn_fused_lstm_cell": "what lstm_cell computes on a GPU",
    "conv_tbc": "not in gradd",
    "cudnn_convolution": "what convolution computes on a GPU",
    "cudnn_convolution_transpose": "what convolution computes on a GPU",
    "fake_quantize_per_tensor_affine": "not in gradd: quantization",
    "fractional_max_pool2d": "not in gradd",
    "fractional_max_pool3d": "not in gradd",
    "mkldnn_rnn_layer": "what an LSTM computes on some CPUs",
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.skipif(not ITSELF, reason="asks PyTorch which ops are on its lists")
def test_each_op_of_the_lists_is_asked_for() -> None:
    torch = module()
    registered = torch._C._dispatch_get_registrations_for_dispatch_key
    listed = {
        name.removeprefix("aten::").partition(".")[0]
        for key in ("AutocastCPU", "AutocastCUDA")
        for name in registered(key)
    }
    given = _given(torch, "cpu")
    with torch.profiler.profile() as seen:
        for line in LINES:
            with contextlib.suppress(RuntimeError, NotImplementedError):
                eval(line, given)
    called = {event.name.removeprefix("aten::") for event in seen.events()}
    assert listed - called == set(ELSEWHERE)

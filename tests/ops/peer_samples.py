"""PyTorch's own operator samples (its ``op_db``) beside the ops here: values, gradients, second gradients and
tangents, where an op of that name exists on both sides.

Needs torch and expecttest. Prints a line for each kind of difference of an op:
``python -m tests.ops.peer_samples [op ...]``; ``make peer`` runs them all.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gradd
import ml_dtypes
import numpy as np

DTYPES = ("float64", "complex128", "float32", "bfloat16")
#: relative tolerance of values and of derivatives, by dtype
CLOSE = {
    "float64": (1e-8, 1e-6),
    "complex128": (1e-8, 1e-6),
    "float32": (2e-4, 2e-3),
    "complex64": (2e-4, 2e-3),
    "bfloat16": (2e-2, 6e-2),
    "float16": (4e-3, 2e-2),
}
#: ops whose samples say nothing about values: they draw, or give memory as it is
WITHOUT_VALUES = frozenset(
    {
        "bernoulli", "cauchy", "empty", "empty_like", "empty_strided", "exponential", "geometric",
        "log_normal", "multinomial", "new_empty", "new_empty_strided", "normal", "rand", "rand_like",
        "randint", "randint_like",
        "randn", "randn_like", "randperm", "resize_", "uniform", "nn.functional.alpha_dropout",
        "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
        "nn.functional.feature_alpha_dropout", "nn.functional.rrelu",
    }
)  # fmt: skip
_ROUNDED = "sums, ties and steps between in 16 bits"
_TIES = "which of equal values is named is left open"
_WEIGHTS = "weights in single precision: their gradients are rounding errors of larger numbers"
_PADDED = "an output padding beyond the stride is refused here"
_DIAGONAL = "the imaginary part of what is given for a real diagonal counts for nothing here"
#: where PyTorch is left alone on purpose, by entry: the comparison or the dtype that is left out, and why
KNOWN = {
    "argsort bfloat16": ("forward", _TIES),
    "cholesky": ("backward", _DIAGONAL),
    "cholesky_inverse": ("jvp", "PyTorch multiplies in another order than the derivative has"),
    "cov complex128": ("backward", _WEIGHTS),
    "cov float64": ("double backward", _WEIGHTS),
    "div bfloat16": ("forward", "PyTorch rounds the quotient before it truncates it"),
    "linalg.cholesky": ("backward", _DIAGONAL),
    "linalg.cholesky_ex": ("backward", _DIAGONAL),
    "linalg.det": ("double backward", "zeros of a single number, where PyTorch has none"),
    "linalg.householder_product": ("backward", "zeros of no reflections at all, where PyTorch has none"),
    "linalg.norm": ("double backward", "0 at 0, where PyTorch has NaN"),
    "logcumsumexp": ("jvp", "exact for far-apart numbers; PyTorch overflows or rounds"),
    "logcumsumexp bfloat16": ("backward", _ROUNDED),
    "matrix_exp bfloat16": ("forward", "PyTorch overflows"),
    "mode bfloat16": ("forward", _TIES),
    "msort bfloat16": ("backward", _ROUNDED),
    "nn.functional.batch_norm": ("forward", "PyTorch takes empty inputs of one dimension"),
    "nn.functional.conv_transpose2d": ("forward", _PADDED),
    "nn.functional.conv_transpose3d": ("forward", _PADDED),
    "nn.functional.hinge_embedding_loss bfloat16": ("forward", _ROUNDED),
    "nn.functional.normalize bfloat16": ("backward", _ROUNDED),
    "nn.functional.scaled_dot_product_attention": ("double backward", "PyTorch's fused kernel has none"),
    "topk bfloat16": ("forward", _ROUNDED),
    "triangular_solve": ("jvp", "PyTorch's tangent counts the triangle that the function does not read"),
}


class Differs(AssertionError):
    """The two sides do not agree."""


@dataclass(frozen=True)
class Peer:
    """An entry of ``op_db`` with our callable of that name."""

    info: Any
    fn: Callable[..., Any]

    @property
    def name(self) -> str:
        """The entry's name and variant."""
        variant = self.info.variant_test_name
        return f"{self.info.name} {variant}" if variant else str(self.info.name)


def _swapped(fn: Any) -> Any:
    """A function of the samples' file that says ``torch`` and means gradd."""
    if not isinstance(fn, types.FunctionType) or "torch" not in fn.__globals__:
        return fn
    made = types.FunctionType(
        fn.__code__, {**fn.__globals__, "torch": gradd}, fn.__name__, fn.__defaults__, fn.__closure__
    )
    made.__kwdefaults__ = fn.__kwdefaults__
    return made


def _ours(info: Any) -> Callable[..., Any] | None:
    """Our callable for an entry; None where there is none."""
    fn = info.op
    if isinstance(fn, types.FunctionType) and fn.__module__.startswith("torch.testing"):
        return _swapped(fn)  # type: ignore[no-any-return]
    found: Any = gradd
    for part in info.name.split("."):
        found = getattr(found, part, None)
    return found if callable(found) else getattr(gradd.Tensor, info.name, None)


def peers(names: Sequence[str] = ()) -> Iterator[Peer]:
    """The entries with an op here, by name."""
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        if (names and info.name not in names) or info.name in WITHOUT_VALUES:
            continue
        fn = _ours(info)
        if fn is not None and info.variant_test_name != "partial_views":
            yield Peer(info, fn)


# -- tensors of both sides ---------------------------------------------------------------------------------


def mirror(x: Any) -> Any:
    """Arguments as ours: tensors of the same values, strides and flags, dtypes by name."""
    import torch

    if isinstance(x, torch.Tensor):
        return _mirrored(x)
    if isinstance(x, torch.Size):
        return tuple(x)
    if isinstance(x, (list, tuple)):
        return type(x)(map(mirror, x)) if not hasattr(x, "_fields") else type(x)(*map(mirror, x))
    if isinstance(x, dict):
        return {k: mirror(v) for k, v in x.items()}
    if isinstance(x, (torch.dtype, torch.memory_format)):
        return getattr(gradd, str(x).removeprefix("torch."))
    if isinstance(x, torch.device):
        return str(x)
    return x


def _array(t: Any) -> Any:
    import torch

    t = t.detach().resolve_conj().resolve_neg()
    if t.dtype is torch.bfloat16:
        return t.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return t.numpy()


def _mirrored(t: Any) -> Any:
    if t.is_contiguous() and not t.is_conj():
        found = gradd.tensor(_array(t))
    else:
        whole = t.detach().resolve_conj()
        reach = sum((n - 1) * s for n, s in zip(whole.shape, whole.stride(), strict=True)) + 1
        flat = _array(whole.as_strided((max(reach, 0) if whole.numel() else 0,), (1,)))
        found = gradd.tensor(flat).as_strided(tuple(whole.shape), whole.stride()).detach()
        if t.is_conj():
            found = found.conj().resolve_conj().conj()
    return found.requires_grad_() if t.requires_grad else found


def tensors(x: Any) -> list[Any]:
    """The tensors in nested arguments or results, in order."""
    if isinstance(x, (list, tuple)):
        return [t for e in x for t in tensors(e)]
    if isinstance(x, dict):
        return [t for e in x.values() for t in tensors(e)]
    return [x] if hasattr(x, "requires_grad") else []


def _values(t: Any) -> Any:
    if isinstance(t, gradd.Tensor):
        t = t.detach()
        return (t.float() if t.dtype in (gradd.bfloat16, gradd.float16) else t).resolve_conj().numpy()
    import torch

    t = t.detach().resolve_conj().resolve_neg()
    return (t.float() if t.dtype in (torch.bfloat16, torch.float16) else t).numpy(force=True)


def compare(got: Any, want: Any, close: float, what: str) -> None:
    """Differs unless both are None, or tensors of one dtype, shape and values."""
    if (got is None) != (want is None):
        raise Differs(
            f"{what}: {'None' if got is None else 'a tensor'}, not {'None' if want is None else 'a tensor'}"
        )
    if want is None:
        return
    if str(got.dtype) != str(want.dtype):
        raise Differs(f"{what}: {got.dtype}, not {want.dtype}")
    if tuple(got.shape) != tuple(want.shape):
        raise Differs(f"{what}: shape {tuple(got.shape)}, not {tuple(want.shape)}")
    a, b = _values(got), _values(want)
    if a.dtype.kind in "fc":
        finite = np.abs(b[np.isfinite(b)])
        scale = min(float(finite.max()), 1e3) if finite.size else 1.0
        least = close * max(scale, 1e-3 if close < 1e-5 else 1.0)
        if not np.allclose(a, b, rtol=close, atol=least, equal_nan=True):
            raise Differs(f"{what}: {_few(a)}, not {_few(b)}")
    elif not np.array_equal(a, b):
        raise Differs(f"{what}: {_few(a)}, not {_few(b)}")


def _nothing(g: Any) -> bool:
    """Whether a gradient is none, or has no elements, which says as much."""
    return g is None or not g.numel()


def _few(a: Any) -> str:
    return np.array2string(np.ravel(a)[:6], precision=6)


# -- one sample --------------------------------------------------------------------------------------------


class Call:
    """One sample on one side: ``torch`` or gradd as `side`."""

    def __init__(self, side: Any, fn: Callable[..., Any], sample: Any, process: Any) -> None:
        self.side, self.fn, self.process = side, fn, process
        self.args = (sample[0], *sample[1])
        self.kwargs = sample[2]
        self.leaves = [t for t in tensors((self.args, self.kwargs)) if t.requires_grad]

    def run(self) -> Any:
        """The outputs, computed: what raises on values has raised."""
        found = self.fn(*self.args, **self.kwargs)
        for t in tensors(found):
            _values(t)
        return found

    def gradients(
        self, outs: Sequence[Any], turn: Callable[[Any], Any]
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Gradients of `outs` with a history, the same again of those, and the cotangents of the first."""
        some = [o for o in tensors(outs) if o.requires_grad]
        seeds = [turn(_weights(o.shape, str(o.dtype))).requires_grad_() for o in some]
        grad = self.side.autograd.grad
        first = list(grad(some, self.leaves, seeds, create_graph=True, allow_unused=True))
        return first, some, seeds

    def again(self, first: Sequence[Any], seeds: Sequence[Any], turn: Callable[[Any], Any]) -> list[Any]:
        """Second gradients with respect to the inputs and the cotangents; None where nothing is to be had."""
        some = [g for g in first if g is not None and g.requires_grad]
        if not some:
            return []
        weights = [turn(_weights(g.shape, str(g.dtype)) * 0.5) for g in some]
        return list(self.side.autograd.grad(some, [*self.leaves, *seeds], weights, allow_unused=True))

    def tangents(self, turn: Callable[[Any], Any]) -> list[Any]:
        """The tangent of each output, every differentiable input having one."""
        ad = self.side.autograd.forward_ad
        with ad.dual_level():

            def dual(t: Any) -> Any:
                if not t.requires_grad:
                    return t
                return ad.make_dual(t.detach(), turn(_weights(t.shape, str(t.dtype))))

            found = self.fn(*_mapped(self.args, dual), **_mapped(self.kwargs, dual))
            found = found if self.process is None else self.process(found)
            return [ad.unpack_dual(o).tangent for o in tensors(found)]


def _mapped(x: Any, fn: Callable[[Any], Any]) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(_mapped(e, fn) for e in x)
    if isinstance(x, dict):
        return {k: _mapped(v, fn) for k, v in x.items()}
    return fn(x) if hasattr(x, "requires_grad") else x


def _weights(shape: Sequence[int], dtype: str) -> Any:
    """Numbers that tell elements apart, the same on both sides."""
    n = np.arange(float(np.prod(shape)))
    a = np.cos(n + 1.0).reshape(tuple(shape))
    return a + 1j * np.sin(n + 2.0).reshape(tuple(shape)) if "complex" in dtype else a


def _attempt(fn: Callable[..., Any], *args: Any) -> tuple[Any, Exception | None]:
    try:
        return fn(*args), None
    except Exception as error:
        return None, error


def _agree(ours: Exception | None, theirs: Exception | None, what: str) -> bool:
    """Whether both went well; Differs where one alone was refused. What is said to be not there is not."""
    if isinstance(ours, NotImplementedError) or (
        isinstance(ours, AttributeError) and "has no attribute" in str(ours)
    ):
        return False
    if (ours is None) != (theirs is None):
        one = ours or theirs
        who = "refused" if ours is not None else "PyTorch refuses"
        raise Differs(f"{what}: {who}: {type(one).__name__}: {str(one)[:160]}")
    return theirs is None


def check(peer: Peer, sample: Any, dtype: str) -> None:
    """All that is compared of one sample; Differs where the sides do not agree."""
    import torch

    values, slopes = CLOSE[dtype]
    ours_process = _swapped(sample.output_process_fn_grad)
    theirs_process = sample.output_process_fn_grad
    mine = mirror(sample.input), mirror(sample.args), mirror(sample.kwargs)
    ours = Call(gradd, peer.fn, mine, ours_process)
    theirs = Call(torch, peer.info.op, (sample.input, sample.args, sample.kwargs), theirs_process)
    wanted, refusal = _attempt(theirs.run)
    found, error = _attempt(ours.run)
    if not _agree(error, refusal, "forward"):
        return
    wanted, found = theirs_process(wanted), ours_process(found)
    if len(tensors(found)) != len(tensors(wanted)):
        raise Differs(f"forward: {len(tensors(found))} outputs, not {len(tensors(wanted))}")
    for i, (a, b) in enumerate(zip(tensors(found), tensors(wanted), strict=True)):
        compare(a, b, values, f"forward: output {i}")
        if bool(a.requires_grad) != b.requires_grad:
            raise Differs(f"forward: output {i} requires_grad is {a.requires_grad}, not {b.requires_grad}")

    kind = next((str(o.dtype).removeprefix("torch.") for o in tensors(wanted) if o.requires_grad), dtype)
    if theirs.leaves and any(o.requires_grad for o in tensors(wanted)):
        w, refusal = _attempt(theirs.gradients, wanted, lambda a: _cast(torch, a, kind))
        f, error = _attempt(ours.gradients, found, lambda a: _cast(gradd, a, kind))
        if _agree(error, refusal, "backward"):
            for i, (a, b) in enumerate(zip(f[0], w[0], strict=True)):
                if _nothing(a) and _nothing(b):
                    continue
                compare(a, b, slopes, f"backward: gradient {i}")
            if peer.info.supports_gradgrad and dtype in ("float64", "complex128"):
                w2, refusal = _attempt(theirs.again, w[0], w[2], lambda a: _cast(torch, a, dtype))
                f2, error = _attempt(ours.again, f[0], f[2], lambda a: _cast(gradd, a, dtype))
                if not all(map(_nothing, (*f[0], *w[0]))) and _agree(error, refusal, "double backward"):
                    if len(f2) != len(w2):
                        raise Differs("double backward: gradients of which one side alone has a history")
                    for i, (a, b) in enumerate(zip(f2, w2, strict=True)):
                        compare(a, b, slopes, f"double backward: gradient {i}")
    if peer.info.supports_forward_ad and theirs.leaves and dtype in ("float64", "complex128"):
        w3, refusal = _attempt(theirs.tangents, lambda a: _cast(torch, a, dtype))
        if refusal is None:
            f3, error = _attempt(ours.tangents, lambda a: _cast(gradd, a, dtype))
            if not _agree(error, refusal, "jvp"):
                return
            for i, (a, b) in enumerate(zip(f3, w3, strict=True)):
                if (a is None) != (b is None) and not np.any(_values(b if a is None else a)):
                    continue  # a tangent of zeros says what none says
                compare(a, b, slopes, f"jvp: tangent {i}")


def _cast(side: Any, a: Any, dtype: str) -> Any:
    a = a if "complex" in dtype or a.dtype.kind != "c" else a.real
    return side.tensor(a, dtype=getattr(side, dtype))


def samples(peer: Peer, dtype: str, most: int, seed: int) -> list[tuple[int, Any]]:
    """The entry's samples with their numbers, at most so many, drawn by `seed`."""
    import torch

    kind = getattr(torch, dtype)
    if kind not in peer.info.supported_dtypes("cpu"):
        return []
    torch.manual_seed(0)
    grads = peer.info.supports_autograd and kind in peer.info.supported_backward_dtypes("cpu")
    given = enumerate(peer.info.sample_inputs("cpu", kind, requires_grad=grads))
    # What draws says nothing about values.
    found = [(i, s) for i, s in given if not s.kwargs.get("dropout_p")]
    if len(found) > most:
        found = sorted(random.Random(f"{seed}/{peer.name}/{dtype}").sample(found, most), key=lambda x: x[0])
    return found


def failures(peer: Peer, dtypes: Sequence[str], most: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """What differs for one entry: where, and how. Each kind of difference once a dtype."""
    for dtype in dtypes:
        seen = set()
        for i, sample in samples(peer, dtype, most, seed):
            try:
                check(peer, sample, dtype)
            except Differs as error:
                text = str(error)
            except Exception as error:
                text = f"{type(error).__name__}: {error}"
            else:
                continue
            kind = text.split(":")[0]
            names = peer.info.name, f"{peer.info.name} {dtype}"
            if kind not in seen and all(kind != KNOWN.get(name, ("",))[0] for name in names):
                seen.add(kind)
                yield f"{peer.name} {dtype} sample {i}", text


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 where anything differed that is not known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ops", nargs="*", help="entries to check, by name; all by default")
    parser.add_argument("--dtype", choices=DTYPES, action="append", help="all by default")
    parser.add_argument("--most", type=int, default=8, help="samples an entry and dtype, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--url", default="local:")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    wrong = count = 0
    with gradd.connect(options.url), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for peer in peers(options.ops):
            count += 1
            for where, text in failures(peer, options.dtype or DTYPES, options.most, options.seed):
                wrong += 1
                print(f"{where}: {text[:240]}".replace("\n", " "), flush=True)
    print(
        f"{'passed' if count and not wrong else 'FAILED'}: {count} entries, {wrong} differences, "
        f"in {time.monotonic() - began:.0f} s"
    )
    return 0 if count and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())

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
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import gradd
import numpy as np
from gradd_engine.progress import counted, say

from tests.ops.peers import Differs, Peer, drawn, peers
from tests.ops.trials import NothingToCompare, Trial

DTYPES = ("float64", "complex128", "float32", "bfloat16")
_ROUNDED = "sums, ties and steps between in 16 bits"
_TIES = "which of equal values is named is left open"
_WEIGHTS = "weights in single precision: their gradients are rounding errors of larger numbers"
_DIAGONAL = "the imaginary part of what is given for a real diagonal counts for nothing here"
#: where PyTorch is left alone on purpose, by entry: the comparison or the dtype that is left out, and why
KNOWN = {
    "argsort bfloat16": ("forward", _TIES),
    "as_strided_scatter": ("backward", "0 for what is overwritten; PyTorch's of a number is another"),
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
    "nn.functional.grid_sample": ("double backward", "None, not zeros, for nearest elements"),
    "nn.functional.grid_sample bfloat16": ("forward", "PyTorch rounds places and weights to 16 bits"),
    "nn.functional.hinge_embedding_loss bfloat16": ("forward", _ROUNDED),
    "nn.functional.normalize bfloat16": ("backward", _ROUNDED),
    **{
        f"special.bessel_{letter}{order} float64": ("forward", "PyTorch's is 3e-7 off around 5")
        for letter in "jy"
        for order in (0, 1)
    },
    "topk bfloat16": ("forward", _ROUNDED),
    "triangular_solve": ("jvp", "PyTorch's tangent counts the triangle that the function does not read"),
}


def check(peer: Peer, sample: Any, dtype: str) -> None:
    """All that is compared of one sample; Differs at the first comparison where the sides do not agree."""
    trial = Trial(peer, sample, dtype)
    for compared in (trial.forward, trial.backward, trial.double_backward, trial.jvp):
        try:
            compared()
        except NothingToCompare:
            continue
        except Differs as error:
            if error.unsupported:
                return
            raise Differs(f"{compared.__name__.replace('_', ' ')}: {error}") from None


def samples(peer: Peer, dtype: str, most: int, seed: int) -> list[tuple[int, Any]]:
    """The entry's samples with their numbers, at most so many, drawn by `seed`."""
    import torch

    kind = getattr(torch, dtype)
    if kind not in peer.info.supported_dtypes("cpu"):
        return []
    torch.manual_seed(0)
    grads = peer.info.supports_autograd and kind in peer.info.supported_backward_dtypes("cpu")
    given = enumerate(peer.info.sample_inputs("cpu", kind, requires_grad=grads))
    found = [(i, s) for i, s in given if not drawn(s)]
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
        for peer in counted(peers(options.ops), "peer"):
            count += 1
            for where, text in failures(peer, options.dtype or DTYPES, options.most, options.seed):
                wrong += 1
                say(f"{where}: {text[:240]}".replace("\n", " "), sys.stdout)
    print(
        f"{'passed' if count and not wrong else 'FAILED'}: {count} entries, {wrong} differences, "
        f"in {time.monotonic() - began:.0f} s"
    )
    return 0 if count and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())

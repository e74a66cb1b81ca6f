"""Runs an entry's samples and counts which hold, check by check."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import gradd
import numpy as np

from tests.ops.database import op_db
from tests.ops.peers import Differs, Peer, drawn, ours
from tests.ops.trials import NothingToCompare, Trial
from tests.semantics.error_inputs import CANNOT, NO_OUT, differences

#: each check, and what holds where it passes
CHECKS = {
    "forward": "values, dtypes, shapes and `requires_grad` of the outputs, in the dtypes below",
    "meta": "dtypes, shapes and strides of views, as known before anything is computed",
    "dtypes": "the same as forward, in every other dtype that PyTorch takes on a CPU",
    "backward": "gradients of every input that requires one",
    "second order": "gradients of those gradients, by inputs and cotangents",
    "forward mode": "tangents",
    "batched": "`func.vmap` over two of each tensor",
    "error inputs": "calls that PyTorch refuses: the same class, and the words of its message",
}
#: the dtypes whose samples are put through every check
WHOLE = ("float64", "complex128", "float32")
#: the dtypes of which a few samples each are put through forward, and 16 bits through backward
FEW = ("float16", "bfloat16", "complex64", "uint8", "int8", "int16", "int32", "int64", "bool")
_OF_TRIALS = {
    "forward": Trial.forward,
    "meta": Trial.meta,
    "backward": Trial.backward,
    "second order": Trial.double_backward,
    "forward mode": Trial.jvp,
    "batched": Trial.batched,
}


@dataclass
class Count:
    """Of one check of an entry: how many samples held, of how many, and how the first others differed."""

    held: int = 0
    all: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, what: str, difference: str | None) -> None:
        """Count one sample."""
        self.all += 1
        if difference is None:
            self.held += 1
        elif len(self.differences) < 3:
            self.differences.append(f"{what}: {' '.join(difference.split())[:200]}")


Counts = dict[str, Count]


@cache
def infos() -> dict[str, Any]:
    """PyTorch's entries by name and variant."""
    return {f"{info.name}:{info.variant_test_name}".rstrip(":"): info for info in op_db()}


def over(url: str, name: str, most: int, seed: int) -> Counts:
    """`count` in a session of its own."""
    with gradd.connect(url):
        return count(name, most, seed=seed)


def count(name: str, most: int = 60, few: int = 4, seed: int = 0) -> Counts:
    """Put at most `most` samples of each whole dtype and `few` of the others through all checks, in the
    current session. An operation that is not there fails in each sample.
    """
    info = infos()[name]
    peer = Peer(info, ours(info) or _absent)
    found = {check: Count() for check in CHECKS}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for dtype in WHOLE:
            for number, sample in _samples(peer, dtype, most, seed):
                _whole(found, peer, sample, dtype, f"{dtype} sample {number}")
        for dtype in FEW:
            checks = {"dtypes": Trial.forward}
            if dtype in ("float16", "bfloat16"):
                checks["backward"] = Trial.backward
            for number, sample in _samples(peer, dtype, few, seed):
                _whole(found, peer, sample, dtype, f"{dtype} sample {number}", checks)
        _errors(found["error inputs"], name)
    return found


def _absent(*_: Any, **__: Any) -> Any:
    raise NotImplementedError("no such operation")


def _whole(
    found: Counts, peer: Peer, sample: Any, dtype: str, what: str, checks: Mapping[str, Any] = _OF_TRIALS
) -> None:
    """Put a sample through checks."""
    try:
        trial = Trial(peer, sample, dtype)
    except Exception as error:  # what it is given is not there
        for check in checks:
            found[check].add(what, f"{type(error).__name__}: {error}")
        return
    for check, compared in checks.items():
        try:
            compared(trial)
        except NothingToCompare:
            continue
        except Differs as error:
            found[check].add(what, str(error))
        except Exception as error:
            found[check].add(what, f"{type(error).__name__}: {error}")
        else:
            found[check].add(what, None)


def _errors(counted: Count, name: str) -> None:
    import torch

    if infos()[name].error_inputs_func is None:
        return
    inputs = list(infos()[name].error_inputs("cpu"))
    left_out = {number for key, number in CANNOT if key == name}
    wrong = dict(differences(gradd, torch, name, inputs)) if ours(infos()[name]) else {}
    for number, one in enumerate(inputs):
        if None in left_out or number in left_out or ("out" in one.sample_input.kwargs and name in NO_OUT):
            continue
        counted.add(f"error input {number}", wrong.get(number))


def _samples(peer: Peer, dtype: str, most: int, seed: int) -> Iterator[tuple[int, Any]]:
    """Samples with their numbers, at most so many, drawn by `seed`."""
    import torch

    kind = getattr(torch, dtype)
    if kind not in peer.info.supported_dtypes("cpu"):
        return
    torch.manual_seed(0)
    grads = peer.info.supports_autograd and kind in peer.info.supported_backward_dtypes("cpu")
    given = peer.info.sample_inputs("cpu", kind, requires_grad=grads)
    found = [(i, s) for i, s in enumerate(given) if not drawn(s)]
    if not found and grads:  # those that require gradients all draw
        given = peer.info.sample_inputs("cpu", kind, requires_grad=False)
        found = [(i, s) for i, s in enumerate(given) if not drawn(s)]
    if len(found) > most:
        found = random.Random(f"{seed}/{peer.name}/{dtype}").sample(found, most)
    yield from sorted(found, key=lambda numbered: numbered[0])

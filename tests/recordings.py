"""The recordings of PyTorch's answers: a file beside each file of tests that asks it, under tests/recorded/.

    {"torch": "2.13.0", "arrays": [[dtype, shape, bytes]], "tests": {name: [checksum, answers]}}

as msgpack, compressed with xz. `make record` makes them anew.
"""

from __future__ import annotations

import functools
import lzma
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tests.oracle import VERSION, Answer, Tape, module

HERE = Path(__file__).parent
#: two machines' last digits differ, and a sum's more so; what a test may compare is its own matter
CLOSE, CLOSE_HALF = 1e-3, 2e-2


class Book:
    """The recordings of one file of tests."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.arrays: list[Any] = []
        self.tests: dict[str, tuple[int, list[Answer]]] = {}
        if path.exists():
            found = msgspec.msgpack.decode(lzma.decompress(path.read_bytes()))
            self.arrays = [np.frombuffer(b, d).reshape(s) for d, s, b in found["arrays"]]
            self.tests = found["tests"]

    def tape(self, name: str) -> Tape:
        """A tape for the test of that name: PyTorch's, where it is here, else the recording."""
        if torch := module():
            torch.manual_seed(0)
            return Tape(torch)
        _, answers = self.tests.get(name, (0, []))
        return Tape(None, answers, self.arrays)

    def fault(self, name: str, tape: Tape) -> str:
        """What is wrong with the recording, now that the test has run with this tape; "" where nothing is."""
        if name not in self.tests:
            return "is missing"
        checksum, answers = self.tests[name]
        if checksum != tape.checksum or len(answers) != len(tape.answers):
            return "is stale: the test asks otherwise"
        if module() and not same(answers, self.arrays, tape.answers, tape.arrays):
            return "is stale: PyTorch answers otherwise"
        return ""

    def write(self, made: dict[str, Tape], all_names: set[str]) -> None:
        """Replace the recordings of the tests `made`, and drop those of tests that are no more."""
        known: dict[tuple[Any, ...], int] = {}
        kept = {name: (c, a, self.arrays) for name, (c, a) in self.tests.items() if name in all_names}
        fresh = {name: (tape.checksum, tape.answers, tape.arrays) for name, tape in made.items()}
        tests = {
            name: (checksum, [_moved(a, arrays, known) for a in answers])
            for name, (checksum, answers, arrays) in sorted({**kept, **fresh}.items())
        }
        text = msgspec.msgpack.encode({"torch": VERSION, "arrays": list(known), "tests": tests})
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))


def _is_array(answer: Any) -> bool:
    """Whether it names an array; the names of a tuple's parts may begin with the same letter."""
    return len(answer) == 2 and answer[0] == "a" and isinstance(answer[1], int)


def _moved(answer: Answer, arrays: list[Any], known: dict[tuple[Any, ...], int]) -> Answer:
    """An answer whose arrays have their place among those `known`."""
    if not isinstance(answer, list):
        return answer
    if _is_array(answer):
        a = arrays[answer[1]]
        return ["a", known.setdefault((a.dtype.str, a.shape, a.tobytes()), len(known))]
    return [_moved(e, arrays, known) for e in answer]


def same(one: Answer, ones: list[Any], other: Answer, others: list[Any]) -> bool:
    """Whether two answers are alike but for the last digits of floats."""
    if isinstance(one, (list, tuple)):
        if not isinstance(other, (list, tuple)) or len(one) != len(other):
            return False
        if _is_array(one) and _is_array(other):
            return _close(ones[one[1]], others[other[1]])
        return all(same(a, ones, b, others) for a, b in zip(one, other, strict=True))
    if type(one) is float and type(other) is float:
        return _close(np.float64(one), np.float64(other))
    return type(one) is type(other) and one == other


def _close(a: Any, b: Any) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    close = CLOSE_HALF if a.dtype.itemsize < 4 or a.dtype == np.float32 else CLOSE
    return bool(np.allclose(a, b, rtol=close, atol=close, equal_nan=True))


@functools.cache
def book(tests: Path) -> Book:
    """The recordings of that file of tests."""
    return Book((HERE / "recorded" / tests.relative_to(HERE)).with_suffix(".msgpack.xz"))

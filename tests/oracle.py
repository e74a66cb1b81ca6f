"""PyTorch as the tests see it: through a tape, whose answers can be heard again where it is not installed.

A test asks the fixture `torch`. All that it gets from it are plain values (numbers, strings, copies of
arrays, lists of these) and stand-ins for objects; whatever is done to a stand-in is done to the object behind
it, and the answer noted. Without PyTorch the same questions get the noted answers, so a test behaves alike in
both cases. A recording is the answers alone; a checksum of the questions tells whether it is stale.

With PyTorch every test still asks it, and fails where the recording is missing or another (`make record`).
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import math
import operator
import types
import zlib
from collections import deque, namedtuple
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

#: whether PyTorch itself can be asked
HERE = importlib.util.find_spec("torch") is not None
#: the side "torch" of a test whose body runs on both: without PyTorch it would say nothing about gradd
ITSELF = [pytest.param("torch", marks=pytest.mark.oracle)] if HERE else []
VERSION = "2.13.0"

#: one answer, as msgpack has it: a plain value as it is, everything else as a list that begins with a letter
Answer = Any
_PLAIN = (type(None), bool, str, bytes, float)
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)


class Stale(Exception):
    """The test asks otherwise than when it was recorded."""


@functools.cache
def module() -> types.ModuleType | None:
    """PyTorch by itself, or None: where opt_einsum is installed it would contract in another order."""
    if not HERE:
        return None
    import torch

    torch.backends.opt_einsum.enabled = False
    return torch


class Size(tuple[int, ...]):
    """A shape as PyTorch has it."""

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


class Stand:
    """A stand-in for one of PyTorch's objects. `number`: how many were met before it."""

    __slots__ = ("_number", "_real", "_tape")
    __array_ufunc__ = None  # arrays leave operators to the tensor, as they do for PyTorch's

    def __init__(self, tape: Tape, number: int, real: Any = None) -> None:
        for name, value in (("_tape", tape), ("_number", number), ("_real", real)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__name__":
            raise AttributeError(name)
        return self._tape.ask("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._tape.ask("setattr", self, name, value)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._tape.ask("call", self, *args, **options)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._tape.ask("list", self))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self._tape.ask("asarray", self), dtype)

    def __instancecheck__(self, one: Any) -> bool:
        return type(one) is Stand and self._tape.ask("isinstance", one, self)

    def __exit__(self, *error: Any) -> Any:
        return self._tape.ask("exit", self, error[0] is not None)

    __hash__ = object.__hash__


def _leave(context: Any, failed: bool) -> None:
    error = RuntimeError("the test's") if failed else None
    context.__exit__(type(error) if failed else None, error, None)


_VERBS: dict[str, Callable[..., Any]] = {
    "call": lambda function, *args, **options: function(*args, **options),
    "exit": _leave,
    **{f.__name__: f for f in (getattr, setattr, list, isinstance, np.asarray)},
}


def _teach(verb: str, does: Callable[..., Any]) -> None:
    _VERBS[verb] = does
    setattr(Stand, f"__{verb}__", lambda self, *args: self._tape.ask(verb, self, *args))


_TWO = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor")
_MORE = ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "index", "contains")
for _name in (*_TWO, "lshift", "rshift"):
    _does, _bare = getattr(operator, _name), _name.rstrip("_")
    _teach(_bare, _does)
    _teach(f"r{_bare}", lambda mine, other, does=_does: does(other, mine))
    _teach(f"i{_bare}", getattr(operator, f"i{_bare}"))
for _name in (*_MORE, "getitem", "setitem", "delitem"):
    _teach(_name, getattr(operator, _name))
for _does in (len, int, float, complex, bool, str, repr, format, round, next):
    _teach(_does.__name__, _does)
_teach("enter", lambda context: context.__enter__())


class Tape:
    """What PyTorch answers one test: it is asked, where `torch` is given, or `known`, a recording, heard."""

    def __init__(
        self, torch: types.ModuleType | None, known: Sequence[Answer] = (), arrays: list[Any] | None = None
    ) -> None:
        self._live = torch is not None
        self._known = known
        self._arrays = [] if arrays is None else arrays
        self._stands: list[Stand] = []
        self._numbers: dict[int, int] = {}
        self._callbacks: dict[int, tuple[int, Callable[..., Any]]] = {}
        self._fresh: deque[Stand] = deque()
        self._thrown: BaseException | None = None
        self.answers: list[Answer] = []
        self.checksum = 0
        self.torch = self._meet(torch)

    @property
    def arrays(self) -> list[Any]:
        """What the arrays among the answers are."""
        return self._arrays

    def close(self) -> None:
        """Let go of PyTorch's objects."""
        self._stands.clear()
        self._callbacks.clear()

    # -- asking

    def ask(self, verb: str, *args: Any, **options: Any) -> Any:
        """The answer to a question; raises what PyTorch raised."""
        self._sign(verb, args, options)
        own = verb in ("getattr", "getitem")
        return self._answer(lambda: _VERBS[verb](*self._real(args), **self._real(options)), own)

    def give(self, function: Callable[[Any], Any]) -> Any:
        """What a function of PyTorch itself gives, as one question: for what no stand-in can do, as pickles
        and classes of one's own.
        """
        self._sign("give")
        return self._answer(lambda: function(module()), False)

    def _answer(self, act: Callable[[], Any], own: bool) -> Any:
        if not self._live:
            return self._hear(self._listen())
        try:
            found = act()
        except Exception as error:
            answer = ["^"] if error is self._thrown else _refusal(error)
        else:
            # a list that is asked for by its name may be written to: it is no value
            answer = self._object(found) if own and type(found) in (list, dict) else self._tell(found)
        self.answers.append(answer)
        return self._hear(answer)

    def _listen(self) -> Answer:
        """The next answer on the tape, once the callbacks that came before it are called."""
        while True:
            if len(self.answers) == len(self._known):
                raise Stale("this asks more than its recording answers")
            answer = self._known[len(self.answers)]
            self.answers.append(answer)
            if not (isinstance(answer, list) and answer[0] == "f"):
                return answer
            try:
                self._called(answer)
            except Exception as error:
                self._thrown = error

    def _callback(self, number: int) -> Callable[..., Any]:
        """What PyTorch gets for a function of the test."""

        def callback(*args: Any, **options: Any) -> Any:
            note = ["f", number, self._tell(args), self._tell(options)]
            self.answers.append(note)
            try:
                return self._real(self._called(note))
            except Exception as error:
                self._thrown = error
                raise

        return callback

    def _called(self, note: Answer) -> Any:
        _, number, args, options = note
        function = next(f for n, f in self._callbacks.values() if n == number)
        found = function(*self._hear(args), **self._hear(options))
        self._sign("return", found)
        return found

    # -- questions

    def _sign(self, *question: Any) -> None:
        text = ",".join(map(self._text, question))
        self.checksum = zlib.crc32(text.encode(), self.checksum)

    def _text(self, x: Any) -> str:
        """A question's text."""
        if type(x) is Stand:
            return f"@{x._number}"
        if isinstance(x, (np.ndarray, np.generic)):
            return f"{x.dtype}{x.shape}{_gist(x)}"
        if isinstance(x, (list, tuple)):
            return f"{type(x).__name__}({','.join(map(self._text, x))})"
        if isinstance(x, dict):
            return f"dict({','.join(f'{k}:{self._text(v)}' for k, v in x.items())})"
        if isinstance(x, slice):
            return f"slice({','.join(map(self._text, (x.start, x.stop, x.step)))})"
        if isinstance(x, (*_PLAIN, int, complex, types.EllipsisType)):
            return repr(x)
        if isinstance(x, _FUNCTIONS):
            return f"f{self._callbacks.setdefault(id(x), (len(self._callbacks), x))[0]}"
        return getattr(x, "__name__", type(x).__name__)

    def _real(self, x: Any) -> Any:
        """An argument as PyTorch gets it."""
        if type(x) is Stand:
            return x._real
        if isinstance(x, (list, tuple)):
            return type(x)(map(self._real, x))
        if isinstance(x, dict):
            return {k: self._real(v) for k, v in x.items()}
        if isinstance(x, slice):
            return slice(*map(self._real, (x.start, x.stop, x.step)))
        if isinstance(x, np.ndarray):
            return x.copy(order="K")  # PyTorch may write to it
        return self._callback(self._callbacks[id(x)][0]) if isinstance(x, _FUNCTIONS) else x

    # -- answers

    def _meet(self, real: Any) -> Stand:
        """A stand-in for an object that is new."""
        self._numbers[id(real)] = len(self._stands)
        self._stands.append(Stand(self, len(self._stands), real))
        return self._stands[-1]

    def _tell(self, x: Any) -> Answer:
        if isinstance(x, _PLAIN):
            return x
        if type(x) is int:
            return x if abs(x) < 1 << 63 else ["i", str(x)]
        if type(x) is complex:
            return ["c", x.real, x.imag]
        if isinstance(x, (np.ndarray, np.generic)):
            self._arrays.append(np.array(x))
            return ["a", len(self._arrays) - 1]
        if type(x).__name__ == "Size":
            return ["s", *x]
        if isinstance(x, tuple) and hasattr(x, "n_fields"):  # with names
            return ["n", [*type(x).__match_args__], *map(self._tell, x)]
        if isinstance(x, (list, tuple)):
            return ["l" if isinstance(x, list) else "t", *map(self._tell, x)]
        if type(x) is dict:
            return ["d", *(self._tell(e) for pair in x.items() for e in pair)]
        return self._object(x)

    def _object(self, x: Any) -> Answer:
        if id(x) in self._numbers:
            return ["o", self._numbers[id(x)]]
        self._fresh.append(self._meet(x))
        return ["o"]

    def _hear(self, answer: Answer) -> Any:
        if not isinstance(answer, list):
            return answer
        letter, *rest = answer
        match letter:
            case "o" if rest:
                return self._stands[rest[0]]
            case "o":
                return self._fresh.popleft() if self._live else self._meet(None)
            case "a":
                return self._arrays[rest[0]].copy()
            case "l":
                return [self._hear(e) for e in rest]
            case "t":
                return tuple(self._hear(e) for e in rest)
            case "n":
                return namedtuple("Named", rest[0])(*map(self._hear, rest[1:]))
            case "s":
                return Size(rest)
            case "d":
                found = [self._hear(e) for e in rest]
                return dict(zip(found[::2], found[1::2], strict=True))
            case "c":
                return complex(*rest)
            case "i":
                return int(rest[0])
            case "^":
                assert self._thrown is not None
                raise self._thrown
        raise getattr(builtins, rest[0])(*rest[1:])


def _gist(a: Any) -> Any:
    """What is signed of an array: of floats three digits of a sum, for machines differ in the last."""
    if a.dtype.kind not in "fc":
        return zlib.crc32(np.ascontiguousarray(a).tobytes())
    sizes = np.abs(a[np.isfinite(a)]).astype(np.float64)
    return f"{float(np.minimum(sizes, 1e100).sum()):.3g}"


def _refusal(error: Exception) -> Answer:
    """An exception, as the nearest class that Python itself has."""
    kind = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
    told = error.args[0] if len(error.args) == 1 and isinstance(error.args[0], str) else str(error)
    return ["!", kind.__name__, told]

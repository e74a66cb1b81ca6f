"""Files that PyTorch's `torch.save` writes and `torch.load` reads: a zip archive of a pickle and of storages.

The pickle is not run. Its opcodes are read one by one, and all that they may name is in a table: tensors,
plain values and their containers; where it is asked for, also classes that the program has. Source: PyTorch's
notes on serialization, https://docs.pytorch.org/docs/stable/notes/serialization.html.
"""

from __future__ import annotations

import enum
import math
import pickle
import pickletools
import struct
import zipfile
from collections import Counter, OrderedDict, defaultdict, deque
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from gradd_engine.data import Device, DType, Size, dtypes
from gradd_protocol import dtypes as rows

from .._surface import Specified, layout, rebuilt, tensor
from .._tensor import Tensor
from ..nn.parameter import Parameter
from . import objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAGIC = b"PK\x03\x04"
"""How such a file begins."""

#: dtypes by the names of their storages
_STORAGES = {
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16", "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16",
    "CharStorage": "int8", "ByteStorage": "uint8", "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64", "ComplexDoubleStorage": "complex128", "UntypedStorage": "uint8",
}  # fmt: skip
_KINDS = {dtype: name for name, dtype in _STORAGES.items() if name != "UntypedStorage"}
#: callables that a pickle may name, by their own
_PLAIN: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "collections.defaultdict": lambda *_: defaultdict(),
    "builtins.set": set,
    "builtins.complex": complex,
    "builtins.bytearray": bytearray,
    "_codecs.encode": lambda text, _: text.encode("latin1"),
    "torch.Size": Size,
    "torch.device": Device,
    "torch.serialization._get_layout": lambda name: layout(_as(name, str).removeprefix("torch.")),
    "torch._utils._rebuild_sparse_tensor": lambda kind, parts: rebuilt(_as(kind, layout), _as(parts, tuple)),
}


#: elements of a tensor that has more than its storage, at most
_REPEATED = 1 << 24


class _Named:
    """What a pickle names: something in the table."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Storage:
    """The octets `key` of an archive, of that dtype."""

    def __init__(self, key: str, dtype: DType, count: int) -> None:
        self.key, self.dtype, self.count = key, dtype, count


# -- read ------------------------------------------------------------------------------------------


def read(file: BinaryIO, weights_only: bool = True) -> Any:
    """What was saved, with tensors in the current session; with `weights_only` False also instances of the
    program's classes. Raises pickle.UnpicklingError for what may not be named there, and ValueError for a
    malformed file.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith("/data.pkl"))
            folder = name.removesuffix("data.pkl")
            if f"{folder}byteorder" in archive.namelist() and archive.read(f"{folder}byteorder") != b"little":
                raise ValueError("it was written on a machine of another byte order")
            if f"{folder}constants.pkl" in archive.namelist():
                raise pickle.UnpicklingError("it holds a TorchScript program, which gradd.load does not run")
            return _Reader(archive, folder, weights_only).restore(archive.read(name))
    except (zipfile.BadZipFile, KeyError, IndexError, TypeError, struct.error) as error:
        raise ValueError(str(error) or type(error).__name__) from error


class _Reader:
    """Does what a pickle says, as far as it is known and harmless."""

    def __init__(self, archive: zipfile.ZipFile, folder: str, weights_only: bool) -> None:
        self._archive, self._folder, self._weights_only = archive, folder, weights_only
        self._octets: dict[str, bytes] = {}
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def restore(self, program: bytes) -> Any:
        """The value that it makes."""
        stack, memo = self._stack, self._memo
        value: Any
        for opcode, value, _ in pickletools.genops(program):
            match opcode.name:
                case "PROTO" | "FRAME":
                    continue
                case "STOP":
                    return stack.pop()
                case "MARK":
                    self._marks.append(len(stack))
                case "NONE" | "NEWTRUE" | "NEWFALSE":
                    stack.append({"NONE": None, "NEWTRUE": True, "NEWFALSE": False}[opcode.name])
                case "BININT" | "BININT1" | "BININT2" | "LONG1" | "BINFLOAT":
                    stack.append(value)
                case "BINUNICODE" | "SHORT_BINUNICODE" | "BINBYTES" | "SHORT_BINBYTES":
                    stack.append(value)
                case "EMPTY_DICT" | "EMPTY_LIST" | "EMPTY_TUPLE" | "EMPTY_SET":
                    made = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple, "EMPTY_SET": set}
                    stack.append(made[opcode.name]())
                case "TUPLE":
                    stack.append(tuple(self._since_mark()))
                case "TUPLE1" | "TUPLE2" | "TUPLE3":
                    count = int(opcode.name[-1])
                    stack[-count:] = [tuple(stack[-count:])]
                case "BINPUT" | "LONG_BINPUT":
                    memo[value] = stack[-1]
                case "MEMOIZE":
                    memo[len(memo)] = stack[-1]
                case "BINGET" | "LONG_BINGET":
                    stack.append(memo[value])
                case "APPEND":
                    held = stack.pop()
                    _as(stack[-1], list).append(held)
                case "APPENDS" | "ADDITEMS":
                    several = self._since_mark()
                    target = stack[-1]
                    if isinstance(target, set):
                        target.update(several)
                    elif isinstance(target, deque):
                        target.extend(several)
                    else:
                        _as(target, list).extend(several)
                case "SETITEM":
                    key, held = stack[-2:]
                    del stack[-2:]
                    _as(stack[-1], dict)[key] = held
                case "SETITEMS":
                    several = self._since_mark()
                    _as(stack[-1], dict).update(zip(several[::2], several[1::2], strict=True))
                case "GLOBAL":
                    module, name = value.split(" ", 1)
                    stack.append(_named(module, name, self._weights_only))
                case "STACK_GLOBAL":
                    module, name = stack[-2:]
                    stack[-2:] = [_named(_as(module, str), _as(name, str), self._weights_only)]
                case "BINPERSID":
                    stack.append(_storage(stack.pop()))
                case "REDUCE" | "NEWOBJ":
                    given, what = _as(stack.pop(), tuple), stack.pop()
                    if isinstance(what, type) and opcode.name == "NEWOBJ":
                        stack.append(what.__new__(what, *given))
                    else:
                        stack.append(self._called(what, given))
                case "BUILD":
                    state = stack.pop()
                    if (
                        isinstance(stack[-1], OrderedDict)
                        and isinstance(state, dict)
                        and "_metadata" in state
                    ):
                        stack[-1]._metadata = state["_metadata"]  # type: ignore[attr-defined]
                    elif not isinstance(stack[-1], (OrderedDict, Tensor, _Named, *objects.NAMED)):
                        objects.build(stack[-1], state)
                case _:
                    raise pickle.UnpicklingError(f"its pickle has the opcode {opcode.name}")
        raise ValueError("its pickle has no end")

    def _since_mark(self) -> list[Any]:
        begin = self._marks.pop()
        several = self._stack[begin:]
        del self._stack[begin:]
        return several

    def _called(self, what: Any, given: tuple[Any, ...]) -> Any:
        if isinstance(what, objects.NAMED) and objects.may_be_called(what):
            return what(*given)
        if what is getattr and isinstance(given[0], enum.EnumMeta) and given[1] in given[0].__members__:
            return given[0][given[1]]  # as Python 3.11 writes a member, before 3.11.4
        name = what.__qualname__ if isinstance(what, objects.NAMED) else _as(what, _Named).name
        if name in _PLAIN:
            return _PLAIN[name](*given)
        if name == "torch._utils._rebuild_tensor_v2":
            return self._tensor(*given[:5])
        if name == "torch._utils._rebuild_tensor_v3":  # of a dtype that no storage is named after
            held = _as(given[0], _Storage)
            return self._tensor(_Storage(held.key, _as(given[6], DType), held.count), *given[1:5])
        if name == "torch._utils._rebuild_parameter":
            held, requires_grad = given[:2]
            return Parameter(held, bool(requires_grad))
        raise pickle.UnpicklingError(f"its pickle calls {name}")

    def _tensor(self, storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool) -> Tensor:
        held = _as(storage, _Storage)
        row = rows.BY_NAME[held.dtype.name]
        octets = self._octets.get(held.key)
        if octets is None:
            octets = self._octets[held.key] = self._archive.read(f"{self._folder}data/{held.key}")
        flat = np.frombuffer(octets, row.numpy.newbyteorder("<"))
        last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True) if n)
        if min((offset, *size, *stride), default=0) < 0 or (0 not in size and last >= len(flat)):
            raise ValueError(f"a tensor of size {tuple(size)} is not in its storage of {len(flat)} elements")
        strides = [step * flat.itemsize for step in stride]
        if math.prod(size) > max(len(flat), _REPEATED):
            raise ValueError(f"a tensor of size {tuple(size)} repeats {len(flat)} elements")
        view = np.lib.stride_tricks.as_strided(flat[offset:] if 0 not in size else flat[:0], size, strides)
        return tensor(np.array(view, row.numpy), requires_grad=bool(requires_grad))


def _as(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise pickle.UnpicklingError(f"its pickle does to a {type(value).__name__} what it cannot do")
    return value


def _named(module: str, name: str, weights_only: bool) -> Any:
    """What a pickle names. Raises UnpicklingError unless it is in the table, or a class or function of the
    program where those are asked for.
    """
    whole = f"{module.replace('__builtin__', 'builtins')}.{name}"
    if module == "torch" and name in _STORAGES:
        return dtypes.by_name(_STORAGES[name])
    if whole == "torch.storage.UntypedStorage":
        return dtypes.by_name("uint8")
    if module == "torch" and name in rows.BY_NAME:
        return dtypes.by_name(name)
    if whole in _PLAIN or whole.startswith("torch._utils._rebuild_"):
        return _Named(whole)
    if whole in objects.SAFE:
        return objects.SAFE[whole]
    if not weights_only:
        value = objects.found(module.replace("__builtin__", "builtins"), name)
        if isinstance(value, objects.NAMED):
            return value
        raise pickle.UnpicklingError(
            f"it names {whole}, which this program does not have (or has not imported)"
        )
    raise pickle.UnpicklingError(
        f"Weights only load failed. Unsupported global: GLOBAL {whole} was not an allowed global by default: "
        "gradd.load makes tensors, plain values and their containers, and runs nothing that a file brings; "
        "with weights_only=False it also makes instances of classes that the program has"
    )


def _storage(told: Any) -> _Storage:
    kind, dtype, key, _, count = _as(told, tuple)
    if kind != "storage":
        raise ValueError(f"it refers to a {kind!r}")
    return _Storage(_as(key, str), _as(dtype, DType), int(count))


# -- write -----------------------------------------------------------------------------------------


def write(
    file: BinaryIO, obj: Any, fetching: Callable[[Iterable[Tensor]], Callable[[Tensor], np.ndarray[Any, Any]]]
) -> None:
    """Write `obj` so that ``torch.load`` reads it. `fetching` is given all tensors; what it returns is called
    for the data of each, in order. Raises pickle.PicklingError or TypeError for what no file holds.
    """
    writer = _Writer()
    program = b"\x80\x02" + b"".join(writer.value(obj)) + b"."
    values = fetching(writer.tensors)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", program)
        archive.writestr("archive/byteorder", b"little")
        for key, t in enumerate(writer.tensors):
            row = rows.BY_NAME[t.dtype.name]
            data = np.ascontiguousarray(values(t), row.numpy.newbyteorder("<"))
            archive.writestr(f"archive/data/{key}", data.tobytes())
        archive.writestr("archive/version", b"3\n")


class _Writer:
    """Pickles without a pickler: PyTorch's functions are named, and need not be here."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self._memo: dict[int, int] = {}
        self._kept: list[Any] = []

    def value(self, obj: Any) -> Iterator[bytes]:
        """The opcodes that make `obj`."""
        if id(obj) in self._memo:
            yield b"j" + struct.pack("<I", self._memo[id(obj)])
        elif obj is None or isinstance(obj, bool):
            yield {None: b"N", True: b"\x88", False: b"\x89"}[obj]
        elif type(obj) is int:
            number = pickle.encode_long(obj)
            yield (
                b"J" + struct.pack("<i", obj)
                if -(1 << 31) <= obj < 1 << 31
                else (b"\x8a" + bytes([len(number)]) + number)
            )
        elif isinstance(obj, float):
            yield b"G" + struct.pack(">d", obj)
        elif isinstance(obj, str):
            text = obj.encode("utf-8", "surrogatepass")
            yield b"X" + struct.pack("<I", len(text)) + text
        elif isinstance(obj, complex):
            yield from self._call("__builtin__", "complex", obj.real, obj.imag)
        elif isinstance(obj, DType):
            yield _global("torch", obj.name)
        elif isinstance(obj, bytes):
            yield b"B" + struct.pack("<I", len(obj)) + obj
        elif isinstance(obj, objects.NAMED):
            yield _global(*_name(obj))
        else:
            yield from self._object(obj)

    def _object(self, obj: Any) -> Iterator[bytes]:
        if isinstance(obj, Tensor):
            yield from self._tensor(obj)
        elif isinstance(obj, Size):
            yield from self._call("torch", "Size", tuple(obj))
        elif isinstance(obj, tuple):
            yield b"("
            for part in obj:
                yield from self.value(part)
            yield b"t"
            return
        elif isinstance(obj, list):
            yield b"]" + self._put(obj)
            yield b"("
            for part in obj:
                yield from self.value(part)
            yield b"e"
            return
        elif type(obj) in (dict, OrderedDict, Counter, defaultdict):
            yield from self._container(obj)
            return
        elif isinstance(obj, Device):
            yield from self._call("torch", "device", obj.type)
        elif isinstance(obj, layout):
            yield from self._call("torch.serialization", "_get_layout", repr(obj))
        else:
            yield from self._instance(obj)
            return
        yield self._put(obj)

    def _instance(self, obj: Any) -> Iterator[bytes]:
        """An object of any class: how it is made, and its state."""
        maker, given, anew, state, items, pairs = objects.taken_apart(obj)
        yield _global(*_name(maker)) + b"("
        for argument in given:
            yield from self.value(argument)
        yield (b"t\x81" if anew else b"tR") + self._put(obj)
        if items is not None:
            yield b"("
            for held in items:
                yield from self.value(held)
            yield b"e"
        if pairs is not None:
            yield b"("
            for pair in pairs:
                for held in pair:
                    yield from self.value(held)
            yield b"u"
        if state is not None:
            yield from self.value(state)
            yield b"b"

    def _container(self, obj: Any) -> Iterator[bytes]:
        if isinstance(obj, Counter):
            yield from self._call("collections", "Counter", dict(obj))
            return
        yield from self._call("collections", "OrderedDict") if isinstance(obj, OrderedDict) else (b"}",)
        yield self._put(obj) + b"("
        for key, held in obj.items():
            yield from self.value(key)
            yield from self.value(held)
        yield b"u"

    def _tensor(self, t: Tensor) -> Iterator[bytes]:
        if isinstance(t, Specified):
            yield from self._call("torch._utils", "_rebuild_sparse_tensor", t.layout, t._parts())
            return
        if isinstance(t, Parameter):
            yield _global("torch._utils", "_rebuild_parameter") + b"("
        key, count = len(self.tensors), t.numel()
        self.tensors.append(t)
        kind = _KINDS.get(t.dtype.name)
        yield _global("torch._utils", "_rebuild_tensor_v2" if kind else "_rebuild_tensor_v3") + b"(("
        yield from self.value("storage")
        yield _global("torch", kind) if kind else _global("torch.storage", "UntypedStorage")
        told: Any
        for told in (str(key), "cpu", count if kind else count * t.dtype.itemsize):
            yield from self.value(told)
        yield b"tQ"
        strides: list[int] = []
        step = 1
        for n in reversed(t.shape):
            strides.insert(0, step)
            step *= max(n, 1)
        requires_grad = t.requires_grad and not isinstance(t, Parameter)
        last = () if kind else (t.dtype,)
        for told in (0, tuple(t.shape), tuple(strides), requires_grad, OrderedDict(), *last):
            yield from self.value(told)
        yield b"tR"
        if isinstance(t, Parameter):
            for told in (t.requires_grad, OrderedDict()):
                yield from self.value(told)
            yield b"tR"

    def _call(self, module: str, name: str, *given: Any) -> Iterator[bytes]:
        yield _global(module, name) + b"("
        for argument in given:
            yield from self.value(argument)
        yield b"tR"

    def _put(self, obj: Any) -> bytes:
        self._kept.append(obj)  # so that no other object has its id
        self._memo[id(obj)] = len(self._memo)
        return b"r" + struct.pack("<I", self._memo[id(obj)])


def _global(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def _name(value: Any) -> tuple[str, str]:
    """The module and name of a class or function. Raises PicklingError for one made within a function."""
    name = objects.name_of(value)
    if name is None:
        where = f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', '?')}"
        raise pickle.PicklingError(f"Can't pickle {value!r}: it's not found as {where}")
    return name

"""The stubs: each as one text, in the order of names."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType, ModuleType
from typing import Any

import gradd
from gradd import _top, nn
from gradd.linalg import LinAlgError
from gradd.nn import _table
from gradd.nn._layer import Stored
from gradd_engine.backward import GradientEdge
from gradd_engine.declare import functions
from gradd_engine.ops.shared.common import RETURN_TYPES
from gradd_engine.tensor import Node
from gradd_engine.tensor import Tensor as EngineTensor

from .forms import KEYWORD, SPREAD, Form, forms_of, parsed, signature_of
from .pages import document

HEAD = '"""{doc}\n\nWritten by `make face` from the declarations of ops.\n"""\n'
#: names that a module or class may define and that types in it need all the same
_BUILTINS = ("bool", "complex", "float", "int", "str", "type")


def _imported(cls: type, name: str | None = None) -> str:
    tail = "" if name in (None, cls.__name__) else f" as {name}"
    return f"from {cls.__module__} import {cls.__name__}{tail}"


#: where other names in types come from
_SOURCES = {
    "Callable": "from collections.abc import Callable",
    "Iterable": "from collections.abc import Iterable",
    "Iterator": "from collections.abc import Iterator",
    "Sequence": "from collections.abc import Sequence",
    "Any": "from typing import Any",
    "Literal": "from typing import Literal",
    "NamedTuple": "from typing import NamedTuple",
    "Self": "from typing import Self",
    "overload": "from typing import overload",
    "np": "import numpy as np",
    "device": _imported(gradd.device, "device"),
    "dtype": _imported(gradd.dtype, "dtype"),
    "Size": _imported(gradd.Size),
    "memory_format": _imported(gradd.memory_format, "memory_format"),
    "Node": _imported(Node),
    "RemovableHandle": f"from {Node.__module__} import RemovableHandle",
    "Sizes": "from gradd.nn._bases import Sizes",
    "layout": _imported(gradd.layout),
    "GradientEdge": _imported(GradientEdge),
    "Generator": _imported(gradd.Generator),
    "TypedStorage": _imported(gradd.TypedStorage),
    "UntypedStorage": _imported(gradd.UntypedStorage),
    "Tensor": _imported(gradd.Tensor),
    "EngineTensor": _imported(EngineTensor, "EngineTensor"),
    "return_types": "from gradd import return_types",
    "Number": "",
}


def _names(text: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}


class Page:
    """One stub under way: its lines, and the names its types need."""

    def __init__(self, doc: str, defined: Iterable[str]) -> None:
        self.doc = doc
        self.defined = set(defined)
        self.lines: list[str] = []
        self.used: set[str] = set()
        self.imports: set[str] = set()

    def typed(self, text: str) -> str:
        """A type as it is written here: names that the page defines by an alias of theirs."""
        names = _names(text)
        self.used |= names - {"None"}
        for name in sorted(names & ({"Number"} | self.defined & ({*_SOURCES, *_BUILTINS} - {"Tensor"}))):
            text = re.sub(rf"\b(?<!\.){name}\b", f"_{name}", text)
        return text

    def signature(self, form: Form, own: str | None) -> str:
        """Parameters and result as text; `own` is ``self`` of a method."""
        parts = [] if own is None else [own]
        star = False
        for p in form.parameters:
            if p.how == KEYWORD and not star:
                parts.append("*")
                star = True
            kind = self.typed(p.type)
            if p.how == SPREAD:
                parts.append(f"*{p.name}: {kind}")
                star = True
            else:
                parts.append(f"{p.name}: {kind}" + ("" if p.default is None else f" = {p.default}"))
        return f"({', '.join(parts)}) -> {self.typed(form.returns)}"

    def function(
        self, name: str, forms: list[Form], lines: list[str], own: str | None = None, ignore: str = ""
    ) -> None:
        """One function or method with its forms; the docstring stands in the first."""
        pad = "" if own is None else "    "
        for i, form in enumerate(forms):
            if len(forms) > 1:
                self.used.add("overload")
                self.lines.append(f"{pad}@overload{ignore * (not i)}")
            self.lines.append(f"{pad}def {name}{self.signature(form, own)}:")
            if i or not lines:
                self.lines[-1] += " ..." + ignore * (len(forms) == 1)
                continue
            self.documented(lines, pad + "    ")
        self.lines.append("")

    def documented(self, lines: list[str], pad: str) -> None:
        """A docstring."""
        text = [line.replace("\\", "\\\\") for line in lines]
        if len(text) == 1:
            self.lines.append(f'{pad}"""{text[0]}"""')
        else:
            self.lines += [f'{pad}"""{text[0]}', *(f"{pad}{x}" if x else "" for x in text[1:]), f'{pad}"""']

    def text(self) -> str:
        """The stub, imports first."""
        imports, aliases = set(self.imports), []
        needed = set(self.used)
        if "Number" in needed:
            needed |= {"int", "float", "complex"}
            imports.add("from typing import TypeAlias")
        for name in sorted(needed):
            shadowed = name in self.defined and name != "Tensor"
            if name in _BUILTINS:
                if shadowed:
                    imports.add(f"from builtins import {name} as _{name}")
            elif name == "Number":
                number = "int | float | complex"
                for b in sorted({"int", "float", "complex"} & self.defined):
                    number = re.sub(rf"\b{b}\b", f"_{b}", number)
                aliases.append(f"_Number: TypeAlias = {number}")
            elif name in _SOURCES and not (name == "Tensor" and "Tensor" in self.defined):
                line = _SOURCES[name]
                if shadowed:
                    head, _, last = line.rpartition(" import ")
                    line = f"{head} import {last.partition(' as ')[0]} as _{name}"
                imports.add(line)
        head = HEAD.format(doc=self.doc)
        parts = [head, "\n".join(sorted(imports)), "\n".join(aliases), "\n".join(self.lines).rstrip()]
        return "\n".join(p + "\n" for p in parts if p)


def _published(space: str) -> dict[str, Callable[..., Any]]:
    return {name: fn for (where, name), fn in functions().items() if where == space}


def _module(space: str, doc: str, found: Mapping[str, Any]) -> Page:
    page = Page(doc, found)
    for name, fn in sorted(found.items()):
        if isinstance(fn, type):
            page.used.add("Any")
            page.lines += [f"class {name}(Tensor):"]
            page.documented([(fn.__doc__ or "").strip()], "    ")
            page.lines += ["", "    def __init__(self, *args: Any) -> None: ...", ""]
            page.used.add("Tensor")
        else:
            page.function(name, forms_of(fn, name, space), document(fn, space, name, 96))
    return page


def top() -> str:
    """The functions of the top level."""
    found = {name: getattr(_top, name) for name in _top.__all__}
    page = _module("", "The functions of the top level, typed.", found)
    page.lines[:0] = [f"__all__ = {sorted(found)!r}", ""]
    return page.text()


def linalg() -> str:
    """torch.linalg."""
    page = _module("linalg", "Linear algebra (torch.linalg), typed.", _published("linalg"))
    page.imports.add(f"from {LinAlgError.__module__} import LinAlgError as LinAlgError")
    return page.text()


def special() -> str:
    """torch.special."""
    return _module("special", "Special functions (torch.special), typed.", _published("special")).text()


def fft() -> str:
    """torch.fft."""
    return _module("fft", "Fourier transforms (torch.fft), typed.", _published("fft")).text()


def windows() -> str:
    """torch.signal.windows."""
    doc = "Windows (torch.signal.windows), typed."
    return _module("signal.windows", doc, _published("signal.windows")).text()


def functional() -> str:
    """torch.nn.functional."""
    doc = "Layers and losses as functions (torch.nn.functional), typed."
    return _module("nn.functional", doc, _published("nn.functional")).text()


def return_types() -> str:
    """The named tuples that functions return."""
    page = Page("The named tuples that functions return (torch.return_types), typed.", ())
    page.used |= {"NamedTuple", "Tensor"}
    for name, made in sorted(RETURN_TYPES.items()):
        page.lines += [f"class {name}(NamedTuple):"]
        page.documented([(made.__doc__ or "").strip()], "    ")
        page.lines += ["", *(f"    {field}: Tensor" for field in made._fields), ""]
    return page.text()


def _engines(fn: FunctionType) -> bool:
    """A function of the engine's, spoken of in its tensors; what makes context managers says so itself."""
    return fn.__module__.startswith("gradd_engine") and "contextlib" not in fn.__code__.co_filename


def _reexported(module: ModuleType, doc: str) -> str:
    """A module of names of the engine's, whose tensors are the SDK's here."""
    space = module.__name__.removeprefix("gradd.")
    names = module.__all__
    page = Page(doc, ())
    page.lines += [f"__all__ = {sorted(names)!r}", ""]
    for name in names:
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            page.imports.add(f"from . import {name} as {name}")
        elif isinstance(value, type) and hasattr(value, "_fields"):
            page.used |= {"NamedTuple"}
            page.lines += [f"class {name}(NamedTuple):"]
            page.documented((value.__doc__ or "").strip().splitlines(), "    ")
            fields = value.__annotations__.items()
            page.lines += ["", *(f"    {f}: {page.typed(t.__forward_arg__)}" for f, t in fields)]
        elif isinstance(value, FunctionType) and _engines(value):
            doc_lines = inspect.cleandoc(value.__doc__ or "").splitlines()
            page.function(name, forms_of(value, name, space), doc_lines)
        else:
            real = value.__name__
            page.imports.add(f"from {value.__module__} import {real} as {name}")
    return page.text()


def autograd() -> str:
    """torch.autograd."""
    return _reexported(gradd.autograd, "Automatic differentiation (torch.autograd), typed.")


def forward_ad() -> str:
    """torch.autograd.forward_ad."""
    return _reexported(gradd.autograd.forward_ad, "Forward mode (torch.autograd.forward_ad), typed.")


def autograd_functional() -> str:
    """torch.autograd.functional."""
    doc = "Products with Jacobians and Hessians (torch.autograd.functional), typed."
    return _reexported(gradd.autograd.functional, doc)


def func() -> str:
    """torch.func."""
    return _reexported(gradd.func, "Transforms of functions (torch.func), typed.")


def layers() -> str:
    """The layers of the table, with constructors and what they store."""
    found: dict[str, Any] = {
        n: v for n, v in vars(_table).items() if isinstance(v, type) and v.__module__ == nn.__name__
    }
    page = Page("The layers that store their arguments and call a function, typed.", found)
    for name, made in found.items():
        base: Any = made.__base__
        if base.__name__ not in found:
            page.imports.add(f"from {base.__module__} import {base.__name__}")
        page.lines += [f"class {name}({base.__name__}):"]
        page.documented(_prose(made), "    ")
        init = inspect.signature(made.__init__)
        taken = inspect.signature(base.__init__).parameters if base is not Stored else {}
        named = (p for p in init.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD)
        own = [p for p in named if p.name not in taken and p.name != "self"]
        page.lines += ["", *(f"    {p.name}: {page.typed(p.annotation)}" for p in own)]
        page.function("__init__", [signature_of(made.__init__)], [], "self")
        page.function("forward", [signature_of(made.forward)], _prose(made.forward), "self")
    return page.text()


def _prose(x: Any) -> list[str]:
    return inspect.cleandoc(x.__doc__ or "").splitlines()


# -- methods --------------------------------------------------------------------------------------------


def _in_body(cls: type) -> set[str]:
    """The names that a class defines in its own text, with their types."""
    (made,) = ast.parse(inspect.getsource(cls)).body
    assert isinstance(made, ast.ClassDef)
    found = set()
    for node in made.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {ast.unparse(target) for target in node.targets}
        elif isinstance(node, ast.AnnAssign) and "Callable" not in ast.unparse(node.annotation):
            found.add(ast.unparse(node.target))
    return found


def attached() -> dict[str, Any]:
    """What is attached to tensors after their classes were made, by name."""
    skip = _in_body(EngineTensor) | _in_body(gradd.Tensor)
    found: dict[str, Any] = {}
    for cls in (gradd.Tensor, EngineTensor):
        for name, value in vars(cls).items():
            stated = getattr(value, "method_forms", ())
            if name in found or not isinstance(value, (FunctionType, property)):
                continue
            if name in skip and not stated:
                continue
            known = name.startswith("__") and name not in ("__reduce_ex__", "__rdiv__", "__delitem__")
            if (known or not name.startswith("_")) and not inner(name):
                found[name] = value
    return found


def inner(name: str) -> bool:
    """A method that ops call, and users do not: PyTorch has none of the name."""
    return name in ("assign_", "bernoulli_number_", "index_write_", "pow_number_", "pow_tensor_")


def _property(page: Page, name: str, p: property) -> None:
    notes = getattr(p.fget, "__annotations__", {})
    kind = str(notes.get("return", "Any"))
    if kind == "Any":
        kind = "bool" if name.startswith("is_") else "Tensor"
    page.lines += ["    @property", f"    def {name}(self) -> {page.typed(kind)}:"]
    page.documented(document(p, "Tensor", name, 92), "        ")
    if p.fset is not None and "Tensor" in kind:
        value = page.typed("Tensor | Number")
        page.lines += [f"    @{name}.setter", f"    def {name}(self, value: {value}) -> None: ..."]
    page.lines.append("")


#: operators and protocols by their parameters and result; others take a tensor or a number and give a tensor
_OPERATORS = {
    **dict.fromkeys(("__abs__", "__neg__", "__pos__", "__invert__"), "() -> Tensor"),
    **dict.fromkeys(("__matmul__", "__rmatmul__"), "(other: Tensor) -> Tensor"),
    "__eq__": "(other: object) -> Tensor",
    "__ne__": "(other: object) -> Tensor",
    "__getitem__": "(key: Any) -> Tensor",
    "__setitem__": "(key: Any, value: Tensor | Number) -> None",
    "__array_namespace__": "(*, api_version: str | None = None) -> Any",
    "__array_wrap__": "(array: Any, context: Any = None, return_scalar: bool = False) -> Tensor",
    "__dlpack__": "(*, stream: Any = None, max_version: tuple[int, int] | None = None, "
    "dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any",
    "__dlpack_device__": "() -> tuple[int, int]",
}


def _operator(page: Page, name: str) -> None:
    result = "Self" if name.startswith("__i") else "Tensor"
    form = parsed(_OPERATORS.get(name, f"(other: Tensor | Number) -> {result}"))
    ignore = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
    page.function(name, [form], [], "self", ignore)


def methods() -> str:
    """The methods and operators that declarations attach to tensors."""
    found = attached()
    doc = "The methods that declarations attach to tensors, typed."
    page = Page(doc, {*found, *dir(gradd.Tensor)} - {"Tensor"})
    page.used |= {"EngineTensor", "Tensor"}
    page.lines += ["class Methods(EngineTensor):"]
    page.documented(["A tensor with its operators and methods."], "    ")
    page.lines += ["", f"    def __hash__(self) -> {page.typed('int')}: ...", ""]
    for name, value in sorted(found.items()):
        if isinstance(value, property):
            _property(page, name, value)
        elif name.startswith("__"):
            _operator(page, name)
        else:
            forms = forms_of(value, name, "Tensor")
            if name.endswith("_"):
                forms = [Form(f.parameters, "Self") for f in forms]
            ignore = "  # type: ignore[override]" if name in ("size", "stride") else ""
            page.function(name, forms, document(value, "Tensor", name, 92), "self", ignore)
    return page.text()

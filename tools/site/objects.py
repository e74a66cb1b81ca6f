"""Directives of Sphinx's Python domain for functions, classes and values; docstrings become Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any


def signature(fn: Any, bound: bool = False) -> str:
    """The signature of what can be called, as a stub has it; "(...)" where Python does not tell it. `bound`:
    without its first parameter.
    """
    try:
        found = inspect.signature(fn)
    except (TypeError, ValueError):
        return "(...)"
    text = str(found.replace(parameters=[*found.parameters.values()][1:]) if bound else found)
    text = re.sub(r"(: |-> )(['\"])(.*?)\2", r"\1\3", text)  # annotations that are text
    text = re.sub(r"\bgradd\w*\.(\w+\.)*", "", text)
    return re.sub(r"<[^<>]*>", "...", text)


def markdown(docstring: str | None) -> str:
    """A docstring as Markdown: outside of code and addresses its characters mean themselves."""
    # Four columns more would be a block of code.
    text = re.sub(r"^ +", "", inspect.cleandoc(docstring or ""), flags=re.MULTILINE)
    parts = re.split(r"(``.+?``|`[^`]+`|https?://[^\s)]*[^\s).,])", text)
    parts[::2] = [_plain(part) for part in parts[::2]]
    parts[1::2] = [f"<{part}>" if part.startswith("http") else part for part in parts[1::2]]
    return "".join(parts)


def _plain(text: str) -> str:
    text = re.sub(r"([*_<>\[\]\\|$&{]|^[-+#=])", r"\\\1", text, flags=re.MULTILINE)
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", text, flags=re.MULTILINE)


def directive(kind: str, heads: Iterable[str], body: str, fence: str = "```") -> str:
    """A directive of the Python domain; one description may be of several forms."""
    first, *others = heads
    return "\n".join([f"{fence}{{py:{kind}}} {first}", *others, "", body, fence, ""])


def described(name: str, obj: Any) -> str:
    """A function, class or other value by its full name, with what it says of itself."""
    if inspect.isclass(obj):
        return of_class(name, obj, own_members(obj))
    if isinstance(obj, FunctionType):
        return directive("function", [name + signature(obj)], markdown(obj.__doc__))
    shown = repr(obj)
    # What a plain value's docstring says is of its type, and some have no text but an address in memory.
    plain = isinstance(obj, (int, float, str, type(None))) or not shown.startswith("<")
    return directive("data", [name], f"`{shown}`" if plain else markdown(obj.__doc__))


def of_class(name: str, cls: type, members: Iterable[str]) -> str:
    """A class by its full name, with its members in the order given."""
    kind = "exception" if issubclass(cls, BaseException) else "class"
    head = name + signature(cls).partition(" ->")[0]
    body = "\n".join([markdown(cls.__doc__), "", *(_member(cls, member) for member in members)])
    return directive(kind, [head], body, "````")


def _member(cls: type, name: str) -> str:
    member = inspect.getattr_static(cls, name)
    if isinstance(member, FunctionType):
        return method(name, member)
    return directive("attribute", [name], markdown(member.__doc__))


def method(name: str, fn: FunctionType) -> str:
    """A method by the name that it is to have on the page."""
    return directive("method", [name + signature(fn, bound=True)], markdown(fn.__doc__))


def own_members(cls: type) -> Iterator[str]:
    """The public methods and properties that a class itself describes."""
    for name, member in vars(cls).items():
        if not name.startswith("_") and isinstance(member, (FunctionType, property)) and member.__doc__:
            yield name


def public_names(module: ModuleType) -> list[str]:
    """The names of a module that are its users', modules apart."""
    own = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    return sorted(
        name for name in own
        if not isinstance(obj := getattr(module, name), ModuleType)
        and (hasattr(module, "__all__") or str(getattr(obj, "__module__", "")).startswith("gradd"))
    )  # fmt: skip

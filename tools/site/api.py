"""The SDK's names, page by page: sessions and errors, the top level by subject, modules."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import gradd

from .objects import described, directive, markdown, method, of_class, public_names
from .operators import listed

#: the methods of a session that scripts call; the others are the SDK's own
SESSION = {
    "Work": ("flush", "cancel", "clear", "tensors", "info", "stats"),
    "Names": ("__getitem__", "__setitem__", "__delitem__"),
    "Snapshots": ("snapshot", "snapshots", "delete_snapshot"),
    "What happens": ("profile", "log", "graph"),
    "Other writers": ("name", "acquire"),
    "In an event loop": ("aflush", "ainfo", "aclose"),
    "The current session": ("enter", "leave"),
    "The end": ("close", "abandon"),
}
_CONNECTING = ("connect", "aconnect", "current_session", "delete_session")
_BESIDE = ("function", "from_torch", "offload", "save", "load")
#: headings of the top level, by where its names are defined
_HEADINGS = {
    "Tensors": r"gradd\._surface\.(creation|exchange|coo|compressed|sparse_methods|typed_storages|storages)"
    r"|gradd\.sparse|gradd\._tensor\.typed",
    "Dtypes, layouts, devices": r"gradd_engine\.data\.|gradd\._surface\.(facts|limits)",
    "Gradients on and off": r"gradd_engine\.(graph\.modes|backward)",
    "Random numbers": r"gradd\._surface\.generator",
    "Transforms and compilers": r"gradd_engine\.batching|gradd\.(compiler|library)|gradd$",
    "Mixed precision": r"gradd\.amp",
    "Settings": r"gradd\._surface\.switches|gradd_engine\.tensor\.printing|gradd\._session\.connecting",
    "Streams": r"gradd\.cuda",
    "Symbols": r"gradd\._symbols|torch$",
    "Constants": r"builtins",
}
#: pages of modules, each with the modules that it describes
MODULES = {
    "nn": ("nn", "nn.init", "nn.utils", "nn.utils.parametrize", "nn.utils.parametrizations", "nn.utils.prune",
           "nn.utils.rnn"),
    "optim": ("optim", "optim.lr_scheduler", "optim.swa_utils"),
    "autograd": ("autograd", "autograd.graph", "autograd.forward_ad", "autograd.functional"),
    "func": ("func",),
    "amp": ("amp",),
    "utils": ("utils.data", "utils.checkpoint", "utils.dlpack"),
    "distributions": ("distributions",),
    "profiler": ("profiler",),
    "overrides": ("overrides",),
    "parallel": ("parallel",),
}  # fmt: skip
#: modules of functions that docs/ops.md describes
_OF_OPS = ("nn.functional", "linalg", "special", "fft", "signal.windows")


def sessions() -> str:
    """The page of sessions: how one begins, what it can, and which errors come of it."""
    parts = ["# Sessions\n", "Written from the SDK's docstrings.\n", "## Connecting\n"]
    parts += [described(f"gradd.{name}", getattr(gradd, name)) for name in _CONNECTING]
    parts += ["## Session\n", directive("class", ["gradd.Session"], markdown(gradd.Session.__doc__))]
    for title, names in SESSION.items():
        parts.append(f"### {title}\n")
        parts += [method(f"gradd.Session.{name}", getattr(gradd.Session, name)) for name in names]
    parts.append("## Programs, models, files\n")
    parts += [described(f"gradd.{name}", getattr(gradd, name)) for name in _BESIDE]
    parts.append("## Errors\n")
    parts += [described(f"gradd.{name}", getattr(gradd, name)) for name in _errors()]
    return "\n".join(parts)


def _errors() -> list[str]:
    return [
        name
        for name in gradd.__all__
        if getattr(gradd, name).__class__ is type and issubclass(getattr(gradd, name), Exception)
    ]


def top() -> str:
    """The page of the top level: what is neither an op nor about sessions. Raises ValueError for a name that
    no heading has.
    """
    parts = [
        "# gradd\n",
        "What `import gradd as torch` has beside [ops](../ops.md), [sessions](sessions.md) and what is in "
        "its modules. Written from the SDK's docstrings.\n",
        "## Tensor\n",
        of_class("gradd.Tensor", gradd.Tensor, _beside_ops(gradd.Tensor)),
    ]
    elsewhere = {"Session", "Tensor", *_CONNECTING, *_BESIDE, *_errors(), *listed()["torch"]}
    found: dict[str, list[str]] = {heading: [] for heading in _HEADINGS}
    modules = []
    for name in gradd.__all__:
        obj = getattr(gradd, name)
        if isinstance(obj, ModuleType):
            modules.append(name)
        elif name not in elsewhere:
            found[_heading(name, obj)].append(name)
    for heading, names in found.items():
        parts.append(f"## {heading}\n")
        parts += [described(f"gradd.{name}", getattr(gradd, name)) for name in names]
    parts += ["## Modules\n", *(_summary(name) for name in modules)]
    return "\n".join(parts)


def _heading(name: str, obj: Any) -> str:
    where = getattr(obj, "__module__", None) or type(obj).__module__
    for heading, pattern in _HEADINGS.items():
        if re.match(pattern, where):
            return heading
    raise ValueError(f"gradd.{name}, of {where}, is under no heading of tools/site/api.py")


def _beside_ops(cls: type) -> Iterator[str]:
    """The members of a tensor that docs/ops.md does not describe."""
    there = listed()["torch.Tensor"] | listed()["torch"]
    for name in sorted(dir(cls)):
        member = inspect.getattr_static(cls, name)
        own = isinstance(member, property) or (isinstance(member, FunctionType) and name in vars(cls))
        if own and not name.startswith("_") and name not in there and member.__doc__:
            yield name


def _summary(module: str) -> str:
    page = next((page for page, modules in MODULES.items() if module == page or module in modules), None)
    more = f" [Its names]({page}.md)." if page else ""
    if any(name == module or name.startswith(f"{module}.") for name in _OF_OPS):
        more += " [Its functions](../ops.md)."
    text = markdown(importlib.import_module(f"gradd.{module}").__doc__).partition("\n\n")[0]
    return directive("module", [f"gradd.{module}"], "") + f"**`gradd.{module}`**: {text}{more}\n"


def modules(page: str) -> str:
    """A page of modules."""
    parts = [f"# gradd.{page}\n"]
    for name in MODULES[page]:
        module = importlib.import_module(f"gradd.{name}")
        if name != page:
            parts.append(f"## gradd.{name}\n")
        parts.append(markdown(module.__doc__).partition("\n\n")[0] + "\n")
        parts += [described(f"gradd.{name}.{each}", getattr(module, each)) for each in public_names(module)]
    return "\n".join(parts)

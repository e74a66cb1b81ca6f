"""docs/ops.md as the site has it: each function an object of the index and of the search."""

from __future__ import annotations

import functools
import re

from .objects import directive
from .pages import DOCS

_ENTRY = re.compile(r"^- (?:\[`(\w+)`\]\((\S+)\)|`(\w+)`)\n((?:  .*\n|\n(?=  ))*)", re.MULTILINE)
_FORMS = re.compile(r"  `(\((?:[^`])*)`\n")


@functools.cache
def listed() -> dict[str, frozenset[str]]:
    """The functions that docs/ops.md describes, by heading."""
    return {
        title: frozenset(entry[1] or entry[3] for entry in _ENTRY.finditer(text))
        for title, text in _sections(_text())[1]
    }


def page() -> str:
    """The page."""
    head, sections = _sections(_text())
    parts = [head]
    for title, text in sections:
        parts.append(f"## {title}\n")
        parts.append(_ENTRY.sub(functools.partial(_object, title), text))
    return "\n".join(parts)


def _text() -> str:
    return (DOCS / "ops.md").read_text()


def _sections(text: str) -> tuple[str, list[tuple[str, str]]]:
    head, *rest = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return head, list(zip(rest[::2], rest[1::2], strict=True))


def _object(space: str, entry: re.Match[str]) -> str:
    name = f"{space}.{entry[1] or entry[3]}".replace("torch", "gradd", 1)
    forms = [f"{name}{' '.join(form.split())}" for form in _FORMS.findall(entry[4])]
    text = re.sub(r"^  ", "", _FORMS.sub("", entry[4]), flags=re.MULTILINE).strip()
    if entry[2]:
        text += f"\n\n[PyTorch's page]({entry[2]})"
    return directive("method" if space == "torch.Tensor" else "function", forms, text)

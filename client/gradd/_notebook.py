"""HTML for notebooks. All that is given is text, and escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def shown(title: str, facts: Mapping[str, object], *parts: str) -> str:
    """A line of facts below a title, then `parts`, which are HTML."""
    line = " · ".join(f"{escape(name)} <code>{escape(str(fact))}</code>" for name, fact in facts.items())
    return f"<div><b>{escape(title)}</b> <small>{line}</small>{''.join(parts)}</div>"


def table(rows: Iterable[Sequence[object]], heads: Sequence[object] = ()) -> str:
    """A table of cells."""
    top = f"<thead>{_row(heads, 'th')}</thead>" if heads else ""
    return f"<table>{top}<tbody>{''.join(_row(row, 'td') for row in rows)}</tbody></table>"


def _row(cells: Sequence[object], kind: str) -> str:
    return f"<tr>{''.join(f'<{kind}>{escape(str(cell))}</{kind}>' for cell in cells)}</tr>"


def text(body: str) -> str:
    """Lines as they are."""
    return f"<pre>{escape(body)}</pre>"

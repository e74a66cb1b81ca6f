"""Pieces of SVG. Lengths are pixels; a character's width is a guess, since the viewer picks the font."""

from __future__ import annotations

import textwrap
from html import escape
from typing import NamedTuple

#: package -> (fill, line) of what belongs to it
TINTS = {
    "gradd": ("#eaf3fe", "#3b76b8"),
    "gradd_server": ("#fff3e2", "#b9762a"),
    "gradd_runtime": ("#f2edfd", "#7552b4"),
    "gradd_engine": ("#e9f7ec", "#3c8a52"),
    "gradd_protocol": ("#f3f3f1", "#77756c"),
    "": ("#fdeef0", "#b84a5c"),
}
INK, GREY = "#24292f", "#646b73"
#: a character's width by size of font
WIDTH = 0.54


class Box(NamedTuple):
    """A rectangle on the page."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Of its left and right edge."""
        return self.x + self.width / 2

    @property
    def centre(self) -> float:
        """Of its top and bottom."""
        return self.y + self.height / 2

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.width


def wrapped(words: str, width: float, size: float) -> list[str]:
    """The words in lines that fit into `width`."""
    return textwrap.wrap(words, max(8, int(width / (size * WIDTH))), break_long_words=False)


def text(
    x: float,
    y: float,
    words: str,
    *,
    size: float = 11,
    colour: str = INK,
    style: str = "",
    anchor: str = "start",
) -> str:
    """One line, whose baseline is at `y`. `style`: "bold", "mono" or both."""
    extra = ' font-weight="600"' if "bold" in style else ""
    extra += ' font-family="ui-monospace, Menlo, Consolas, monospace"' if "mono" in style else ""
    extra += f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}"{extra}>{escape(words)}</text>'


def rect(box: Box, fill: str, line: str, *, corner: float = 6, thick: float = 1) -> str:
    """A rounded rectangle."""
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="{corner:g}" fill="{fill}" stroke="{line}" stroke-width="{thick:g}"/>'
    )


def arrow(path: str, colour: str, *, dashed: bool = False, thick: float = 1.2) -> str:
    """A line along `path` with a head at its end."""
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    head = colour.lstrip("#")
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{thick:g}"{dash} '
        f'marker-end="url(#to-{head})"/>'
    )


def page(width: float, height: float, title: str, parts: list[str]) -> str:
    """The whole picture, on white."""
    heads = "".join(
        f'<marker id="to-{c.lstrip("#")}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0.6 L7.5 4 L0 7.4 z" fill="{c}"/></marker>'
        for c in (INK, GREY, *(line for _, line in TINTS.values()))
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" font-family="Helvetica, Arial, sans-serif">',
            f"<title>{escape(title)}</title>",
            f"<defs>{heads}</defs>",
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
            *parts,
            "</svg>",
            "",
        ]
    )

"""Every block of code on every page is run by a test, or it is said why not."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt

from tests.docs.test_pages import PAGES, ROOT

HERE = Path(__file__).parent


class Block(NamedTuple):
    """A block of code. `kind`: its language, or "indented"."""

    page: str
    line: int
    kind: str
    text: str


WALK = "test_walks.py::test_a_page_says_what_its_commands_print"
#: Tests that take blocks from a page by other means than `blocks(page, language)`: page and kind (patterns),
#: what stands in them, and the test.
RUN = (
    (
        "docs/operations.md",
        "indented",
        r"^gradd serve ",
        "test_operations.py::test_what_serves_may_be_served_with",
    ),
    ("docs/rest.md", "indented", r"^(PUT|POST) ", "test_rest.py::test_an_exchange"),
    ("docs/rest.md", "indented", r"^gradd serve ", "test_rest.py::test_origins_are_let_in_as_the_page_says"),
    ("docs/quickstart.md", "console", r"^\$ ", WALK),
    ("docs/quickstart.md", "python", r"^# \w+\.py$", WALK),
    ("docs/tutorials/*.md", "console", r"^\$ ", WALK),
    ("docs/tutorials/*.md", "*", r"^(#|//) \w+\.(py|mjs)$", WALK),
    ("docs/howto/*.md", "python", "", "test_howtos.py::test_programs_print_what_the_page_says"),
    ("docs/howto/*.md", "indented", r"^gradd ", "test_howtos.py::test_a_command_is_one"),
    ("docs/cluster.md", "indented", r"^gradd ", "test_cluster_page.py::test_a_command_is_one"),
    ("docs/cluster.md", "indented", r"^export GRADD_URL", "test_cluster_page.py::test_addresses_are_such"),
    ("docs/cluster.md", "indented", r"^ray start ", "test_cluster_page.py::test_ray_takes_its_flags"),
    ("docs/notebooks.md", "python", "", "../examples/test_notebook.py::test_the_cells_of_the_page"),
    ("docs/clients.md", "*", "(?i)session", "../clients/test_languages.py::test_it_trains_as_the_sdk_does"),
    (
        "clients/typescript/README.md",
        "*",
        "<!doctype html>|--allow-origin",
        "../clients/test_browser.py::test_the_page_of_the_readme_trains",
    ),
    (
        "examples/README.md",
        "text",
        r": [\d.]+$",
        "../examples/test_second_order.py::test_the_script_prints_what_the_readme_shows",
    ),
)

#: Commands that no test runs, by what they have, and why.
NOT_RUN = {
    r"pip install": "installs from a registry",
    r"^npx |^npm ": "tests/clients runs what is installed of these generators",
    r"^(NAME=\S+ )?(docker|podman|helm|make test-docker) ": "`make test-docker` runs the image and the chart",
    r"^ssh |^read -rs ": "needs another machine, or somebody who types",
    r"systemctl|runuser|/run/gradd/": "needs root and systemd; tests/server/test_service.py checks the unit",
    r"^ +\+-- node": "is a picture",
    r"gradd_\.\.\.": "shows where a key goes, and has none",
    r"^make (setup|test|demo)": "runs all that others run; test_make_targets_exist looks for it",
    r"start_as_current_span": "tests/client/test_tracing.py has spans of its own",
    r"examples/": "tests/examples runs each of these programs",
}


@cache
def found() -> tuple[Block, ...]:
    """The blocks of all pages."""
    return tuple(
        Block(
            path.relative_to(ROOT).as_posix(), (token.map or [0])[0] + 1,
            token.info.strip() or ("plain" if token.type == "fence" else "indented"), token.content,
        )
        for path in PAGES
        if re.search(r"^ *```|^    ", text := path.read_text(), re.MULTILINE)  # else it need not be parsed
        for token in MarkdownIt().parse(text)
        if token.type in ("fence", "code_block")
    )  # fmt: skip


@cache
def programs() -> dict[tuple[str, str], str]:
    """What in tests takes a page's blocks of a language together, by page and language."""
    return {
        key: f"{path.relative_to(ROOT).as_posix()}::{test.name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for test in ast.walk(ast.parse(path.read_text()))
        if isinstance(test, ast.FunctionDef)
        for key in _asked(test)
    }


def _asked(test: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Page and language of each `blocks(page, language)` in a test."""
    for node in ast.walk(test):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "blocks":
            named = [str(a.value) for a in node.args if isinstance(a, ast.Constant)]
            if len(named) == 2:
                yield named[0], named[1]


def runner(block: Block) -> str | None:
    """The test that runs a block."""
    if test := programs().get((block.page, block.kind)):
        return test
    return next((test for *where, test in RUN if _is(block, *where)), None)


def _is(block: Block, page: str, kind: str, what: str) -> bool:
    named = fnmatch(block.page, page) and fnmatch(block.kind, kind)
    return named and bool(re.search(what, block.text, re.MULTILINE))


def reason(block: Block) -> str | None:
    """Why a block of commands is not run."""
    shell = block.kind in ("indented", "sh", "bash", "console")
    found = (why for what, why in NOT_RUN.items() if shell and re.search(what, block.text, re.MULTILINE))
    return next(found, None)


def test_every_block_is_run_or_says_why_not() -> None:
    assert [f"{b.page}:{b.line} {b.kind}" for b in found() if not (reason(b) or runner(b))] == []


def test_most_blocks_are_run() -> None:
    counted = Counter("run" if runner(block) else "not run" for block in found())
    assert counted["run"] > 4 * counted["not run"]


@pytest.mark.parametrize("test", sorted({test for *_, test in RUN}))
def test_what_is_said_to_run_blocks_is_a_test(test: str) -> None:
    path, _, name = test.partition("::")
    assert re.search(rf"^def {name}\(", (HERE / path).read_text(), re.MULTILINE)


def test_no_entry_is_left_over() -> None:
    blocks = found()
    assert [e for e in RUN if not any(_is(b, *e[:3]) for b in blocks)] == []
    assert [e for e in NOT_RUN if not any(re.search(e, b.text, re.MULTILINE) for b in blocks)] == []


def test_a_planted_block_is_found() -> None:
    """A program of which no test knows, and a command of which nobody says why it is not run."""
    for kind in ("python", "js", "json", "indented"):
        block = Block("docs/new.md", 3, kind, "print(1)\n")
        assert runner(block) is None
        assert reason(block) is None
    # A reason is for commands: a program that has one in it is run all the same.
    assert reason(Block("docs/new.md", 3, "python", "# pip install gradd\n")) is None


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    said = {
        (path.relative_to(ROOT).as_posix(), target)
        for path in PAGES
        for target in re.findall(r"(?:^    |`)make ([a-z][a-z-]+)", path.read_text(), re.MULTILINE)
    }
    assert len(said) > 20
    assert {(page, target) for page, target in said if target not in targets} == set()

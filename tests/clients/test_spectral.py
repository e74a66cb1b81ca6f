"""openapi.yaml as spectral judges it, by .spectral.yaml."""

from __future__ import annotations

from pathlib import Path

from tests.clients.conftest import OPENAPI, ROOT, node_modules, run


def spectral(document: Path) -> str:
    """What spectral finds in a document."""
    modules = node_modules("@stoplight/spectral-cli")
    rules = ("--ruleset", ROOT / ".spectral.yaml", "--fail-severity", "warn")
    done = run(modules / ".bin/spectral", "lint", *rules, document, cwd=document.parent)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_it_finds_nothing() -> None:
    assert spectral(OPENAPI) == ""


def test_it_would_find_an_example_that_is_wrong(tmp_path: Path) -> None:
    text = OPENAPI.read_text(encoding="utf-8")
    spoiled = tmp_path / "openapi.yaml"
    spoiled.write_text(text.replace("retain_graph: true", "retain_grpah: true", 1), encoding="utf-8")
    assert "retain_grpah" in spectral(spoiled)

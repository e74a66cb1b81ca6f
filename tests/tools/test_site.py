"""What the docs' site is made of: the pages that the index lists, and those written from the code."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import gradd
import pytest
import yaml
from gradd_server.settings import Settings, variable_of

from tools.site import api, commands, metrics, objects, operators, pages, rest
from tools.site.reference import PAGES

ROOT = Path(__file__).parents[2]
#: what tensors, modes and other rooms of the SDK call of a session, and scripts do not
INNER = {
    "aread", "away", "ask_for", "ask_state", "before", "before_fork", "begin_read", "blind", "check",
    "end_read", "failed", "forked", "habit", "has", "knows", "lend", "lose", "mirror", "name_gradient",
    "read", "ready", "record", "recorder", "refuse_lost", "refused", "send", "send_beside", "settled",
    "shared", "step_done", "upload",
}  # fmt: skip


@pytest.fixture(scope="module")
def described() -> set[str]:
    """The names that reference pages describe, each with a place to link to."""
    text = "\n".join([*(make() for make in PAGES.values()), operators.page()])
    assert "object at 0x" not in text
    assert str(Path.home()) not in text
    return set(re.findall(r"^`+\{py:\w+\} ([\w.]+)", text, re.MULTILINE))


def test_every_public_name_is_described(described: set[str]) -> None:
    assert [name for name in gradd.__all__ if f"gradd.{name}" not in described] == []


@pytest.mark.parametrize("module", [name for names in api.MODULES.values() for name in names])
def test_every_name_of_a_module_is_described(module: str, described: set[str]) -> None:
    names = objects.public_names(importlib.import_module(f"gradd.{module}"))
    assert names
    assert [name for name in names if f"gradd.{module}.{name}" not in described] == []


def test_every_member_of_a_session_is_described_or_the_sdks_own(described: set[str]) -> None:
    members = {name for name in dir(gradd.Session) if not name.startswith("_")}
    shown = {name for names in api.SESSION.values() for name in names}
    assert {f"gradd.Session.{name}" for name in shown} <= described
    assert members == {name for name in shown if not name.startswith("_")} | INNER
    assert not shown & INNER


def test_every_method_of_a_tensor_is_described(described: set[str]) -> None:
    assert {"gradd.Tensor.backward", "gradd.Tensor.add_"} <= described
    page = api.top()
    assert all(f"}} {name}" in page for name in ("numpy(", "anumpy(", "grad\n", "item("))


def test_a_name_that_no_heading_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradd, "planted", yaml.safe_load, raising=False)
    monkeypatch.setattr(gradd, "__all__", [*gradd.__all__, "planted"])
    with pytest.raises(ValueError, match=r"gradd\.planted, of yaml, is under no heading"):
        api.top()


def test_an_entry_of_the_ops_keeps_its_forms_and_what_it_says() -> None:
    page = operators.page()
    for title, names in operators.listed().items():
        assert f"## {title}\n" in page
        assert names
    matmul = re.search(r"\{py:function\} gradd\.matmul\((.+?)\n```", page, re.DOTALL)
    assert matmul is not None
    assert "-> Tensor\n\n" in matmul[0]
    assert "generated/torch.matmul.html" in matmul[0]
    assert "\n- " not in page


def test_docstrings_mean_what_they_say() -> None:
    assert objects.markdown("(*, n) to (*, m), `a * b`, see https://a.org/b_c.") == (
        r"(\*, n) to (\*, m), `a * b`, see <https://a.org/b_c>."
    )
    assert objects.markdown("1.") == r"1\."
    assert objects.markdown("x\n- y\n# z &amp; {role}`a`") == "x\n\\- y\n\\# z \\&amp; \\{role}`a`"


def test_signatures_are_those_of_stubs() -> None:
    assert objects.signature(gradd.connect).startswith(
        "(url: str | None = None, session: str | None = None, "
    )
    assert objects.signature(gradd.Session.snapshot, bound=True).startswith(
        "(path: str | os.PathLike[str] | None"
    )


def test_every_command_and_flag_is_on_the_page() -> None:
    page = commands.command_line()
    for word in ("serve", "keys create", "sessions delete", "doctor", "top", "config show", "completion"):
        assert re.search(rf"^###? gradd {word}$", page, re.MULTILINE), word
    assert "| `--overlap TIME` | how long the old one still works, as 1h [default: not at all] |" in page
    assert "gradd sessions [-h]" in page
    assert "| 78 | bad configuration |" in page


def test_every_setting_is_on_the_page() -> None:
    page = commands.settings()
    assert [
        name for name in Settings.__dataclass_fields__ if f"`{variable_of(name)}` | `{name}` |" not in page
    ] == []


def test_metrics_are_those_of_a_scrape() -> None:
    page = metrics.page()
    asked = set(re.findall(r"\bgradd_\w+", json.dumps(json.loads((ROOT / "docs/grafana.json").read_text()))))
    told = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    assert {re.sub(r"_(bucket|count|sum)$", "", name) for name in asked} <= told
    assert "| `gradd_batches_total` | counter | `outcome`, `process` |" in page


def test_every_path_and_type_is_on_the_page() -> None:
    document = yaml.safe_load((ROOT / "openapi.yaml").read_text())
    headings = set(re.findall(r"^### (.+)$", rest.page(), re.MULTILINE))
    operations = {f"{m.upper()} {path}" for path, each in document["paths"].items() for m in each}
    assert headings == operations | document["components"]["schemas"].keys()
    assert "`unknown`\n" not in rest.page()
    assert "A [Problem](#problem) whose `type` is `/problems/malformed-frame`, " in rest.page()


def test_the_index_lists_every_page_once() -> None:
    listed = [page for group in pages.groups().values() for page in group]
    assert len(listed) == len(set(listed))
    assert set(listed) >= set((ROOT / "docs").rglob("*.md")) - {pages.INDEX}


def test_links_lead_to_pages_and_files_of_the_site(tmp_path: Path) -> None:
    pages.write(tmp_path, {"Reference": ["reference/gradd"]})
    assert "](examples.md)" in (tmp_path / "index.md").read_text()
    assert "](files/openapi.yaml)" in (tmp_path / "rest.md").read_text()
    assert (tmp_path / "files/openapi.yaml").read_bytes() == (ROOT / "openapi.yaml").read_bytes()
    assert (tmp_path / "pictures/house.svg").exists()
    contents = re.findall(r"^:caption: (.+)$", (tmp_path / "index.md").read_text(), re.MULTILINE)
    assert contents == list(pages.groups())


def test_a_link_to_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "README.md"
    page.write_text("[there](nowhere.md)\n")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "groups", lambda: {"Start": [page]})
    with pytest.raises(
        ValueError, match=r"README\.md links to nowhere\.md, which is no file of this repository"
    ):
        pages.write(tmp_path / "out", {})


def test_what_looks_like_a_link_in_code_is_none() -> None:
    text = "a\n\n    b\n\n- c\n  ```\n  d\n  ```\n"
    assert [line.strip() for line, code in pages.lines_with_code(text) if not code] == ["a", "", "", "- c"]

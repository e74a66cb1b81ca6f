"""What the pages name exists, and whoever read the design finds it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.names import Named, defined, missing, named

ROOT = Path(__file__).parents[2]
WHERE = (ROOT / "docs/where.md").read_text()
GLOSSARY = (ROOT / "docs/glossary.md").read_text()
PICTURES = {path.stem: path.read_text() for path in (ROOT / "docs/pictures").glob("*.svg")}
QUESTIONS = re.findall(r"^- \*\*(.+?\?)\*\*(.+?)(?=^- \*\*|^## |\Z)", WHERE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ["where", "glossary", "design", "built"])
def test_what_a_page_names_exists(page: str) -> None:
    text = (ROOT / f"docs/{page}.md").read_text()
    assert named(text) or page in ("design", "built")
    assert missing(text) == []


@pytest.mark.parametrize("page", ["where", "glossary", "design", "built"])
def test_each_path_of_a_page_leads_somewhere(page: str) -> None:
    text = (ROOT / f"docs/{page}.md").read_text()
    paths = re.findall(r"`((?:client|engine|protocol|runtime|server|tests)/[\w/]+(?:\.\w+|/)?)`", text)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q[0])
def test_each_answer_is_found_from_the_design(question: tuple[str, str]) -> None:
    """Its file stands in design.md or in one of the ways, or among the files of its room in the house."""
    answers = {n.path for n in named(question[1])} | set(re.findall(r"`([\w/]+\.py)`", question[1]))
    assert answers
    told = (ROOT / "docs/design.md").read_text() + PICTURES["batch"] + PICTURES["callbacks"]
    assert [path for path in answers if path not in told and not in_house(path)] == []


def in_house(path: str) -> bool:
    """Whether the house shows the file, in its room or beside the rooms."""
    _, _, *room, file = path.split("/")
    words = re.findall(r">([^<]+)</text>", PICTURES["house"])
    if not room:
        return file in words
    begin = words.index(f"{room[0]}/")
    end = next((i for i, w in enumerate(words[begin + 1 :], begin + 1) if w.endswith(("/", ".py"))), None)
    return file.removesuffix(".py") in " ".join(words[begin:end]).split()


def test_there_are_many_questions() -> None:
    assert len(QUESTIONS) >= 20


def test_each_word_has_one_meaning() -> None:
    rows = re.findall(r"^\| ([a-z][^|]*) \|", GLOSSARY, re.MULTILINE)
    words = [word.strip() for row in rows if row != "word" for word in row.split(",")]
    assert len(words) > 60
    assert sorted(set(words)) == sorted(words)


def test_planted_names_are_missed() -> None:
    page = "`unbroadcast` and `fit` in `engine/gradd_engine/graph/op_node.py`, `x` in `engine/nowhere.py`"
    assert missing(page) == [
        Named("fit", "engine/gradd_engine/graph/op_node.py"),
        Named("x", "engine/nowhere.py"),
    ]
    assert "Plans.find" in defined("runtime/gradd_runtime/plan/cache.py")

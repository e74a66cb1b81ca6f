"""The tool that runs pages: what it takes for a command, what it compares, what a terminal shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.walk import __main__ as tool
from tools.walk.charts import Bar, Line, bars, lines
from tools.walk.page import is_walk, walked
from tools.walk.shell import CommandFailed, Shell
from tools.walk.varying import alike, told

PAGE = """\
Run it:

```python
# one.py
print(1)
```

```python
print("not a file")
```

```console
$ python one.py
$ echo a \\
> b
gone
stale
```
"""


class Noted:
    """Notes what is asked of it; a command prints itself."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.commands: list[str] = []

    def write(self, name: str, text: str) -> None:
        self.files[name] = text

    def run(self, command: str) -> str:
        self.commands.append(command)
        return f"<{command.strip()}>\n"


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, {"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin", "TERM": "dumb"})
    yield shell
    shell.close()


def test_files_are_written_and_commands_run_in_their_order() -> None:
    place = Noted()
    again = walked(PAGE, place, lambda there, printed: False)
    assert place.files == {"one.py": "# one.py\nprint(1)\n"}
    assert place.commands == ["python one.py\n", "echo a \\\nb\n"]
    assert again.endswith(
        "```console\n$ python one.py\n<python one.py>\n$ echo a \\\n> b\n<echo a \\\nb>\n```\n"
    )
    assert again.partition("```console")[0] == PAGE.partition("```console")[0]


def test_what_says_the_same_stays() -> None:
    assert walked(PAGE, Noted(), lambda there, printed: True) == PAGE
    assert is_walk(PAGE)
    assert not is_walk("```sh\n$ echo\n```\n")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("loss 0.4211", "loss 0.4213", True),
        ("loss 0.4211", "loss 0.4411", False),
        ("best: 1.29", "best: 1.3", True),
        ("0.001", "0.002", True),  # the last place
        ("0.001", "0.003", False),
        ("1.5e-03", "1.6e-03", False),
        ("3 batches", "4 batches", False),
        ("in 1.9 s, 12.0 ms", "in 0.2 s, 140 ms", True),
        ("up 0:00:44", "up 1:12:00", True),
        ("gradd 0.1.0, Python 3.11.7", "gradd 0.2.0, Python 3.13.1", True),
        ("at http://127.0.0.1:4733", "at http://10.0.0.1:4733", False),
        ("2026-11-27T21:02:22+0000 gradd[26803]: ready", "2027-01-02T00:00:00Z gradd[7]: ready", True),
        ("SECONDS\n    0.8\n", "SECONDS\n   11.2\n", True),
        ("k48f2690d23: user", "k93bf739855: user", True),
        ("a    b", "a  b", True),
        ("a b", "ab", False),
    ],
)
def test_what_may_differ(one: str, other: str, same: bool) -> None:
    assert alike(one, other) == same


def test_ports_homes_and_keys_are_told_as_others() -> None:
    key = "gradd_" + "0f" * 36
    assert told(f"http://127.0.0.1:35123 /tmp/x/home/f {key} 351230  ", 35123, "/tmp/x/home") == (
        "http://127.0.0.1:4733 /home/me/f gradd_... 351230\n"
    )


def test_a_shell_keeps_its_variables_and_shows_both_streams(shell: Shell) -> None:
    assert shell.run("export WHO=me; cd /\n") == ""
    assert shell.run('echo "$WHO in $PWD"; echo wrong >&2\n') == "me in /\nwrong\n"
    assert shell.run("test -t 1 && cat && echo a terminal\n") == "a terminal\n"


def test_a_command_that_fails_ends_the_walk(shell: Shell) -> None:
    with pytest.raises(CommandFailed, match="exit code 3\nno"):
        shell.run("echo no; (exit 3)\n")
    with pytest.raises(CommandFailed, match="the shell ended"):
        shell.run("exit\n")


def test_what_stays_is_told_up_to_its_sign(shell: Shell) -> None:
    command = "sh -c 'echo begins; echo it listens on a port; echo more; exec sleep 600'\n"
    assert shell.stay(command, re.compile(r".* listens on .*\n")) == "begins\nit listens on a port\n"


def test_a_stale_page_is_named_and_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "DOCS", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo $((20 + 22))\n41\n```\n")
    assert tool.pages() == ["page.md"]
    assert tool.main(["--check"]) == 1
    assert page.read_text().endswith("41\n```\n")
    assert tool.main([]) == 0
    assert page.read_text() == "```console\n$ echo $((20 + 22))\n42\n```\n"
    assert tool.main(["--check", "page.md"]) == 0
    assert "page.md" in capsys.readouterr().out


def test_a_curve_goes_from_corner_to_corner() -> None:
    svg = lines("t", [Line("a", [(0, 1.0), (5, 10.0), (10, 100.0)])], "x", "y", log=True)
    found = re.search(r'polyline points="([^"]+)"', svg)
    assert found is not None
    places = [tuple(map(float, point.split(","))) for point in found[1].split()]
    assert places == [(74.0, 254.0), (345.0, 149.0), (616.0, 44.0)]
    assert [n for n in ("1", "10", "100") if f">{n}</text>" not in svg] == []


def test_both_axes_may_be_logarithmic() -> None:
    svg = lines("t", [Line("a", [(1, 1.0), (10, 10.0), (100, 100.0)])], "x", "y", log=True, along_log=True)
    assert 'points="74.0,254.0 345.0,149.0 616.0,44.0"' in svg


def test_an_axis_may_begin_with_zero() -> None:
    drawn = [Line("a", [(1, 90.0), (1_000_000, 100.0)])]
    svg = lines("t", drawn, "x", "y", along_log=True, zero=True)
    assert 'points="74.0,65.0 616.0,44.0"' in svg
    assert ">1,000,000</text>" in svg


def test_a_curve_of_one_power_of_ten_is_drawn() -> None:
    svg = lines("t", [Line("a", [(0, 10.0), (1, 10.0)])], "x", "y", log=True)
    assert 'points="74.0,254.0 616.0,254.0"' in svg


def test_bars_of_a_name_are_in_one_row() -> None:
    svg = bars("t", [Bar("one", 0.0, 1.0), Bar("two", 1.0, 4.0), Bar("one", 2.0, 3.0)], "ms")
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', svg)
    assert [boxes[n][1] for n in range(3)] == [boxes[0][1], boxes[1][1], boxes[0][1]]
    assert float(boxes[1][2]) == pytest.approx(3 * float(boxes[0][2]), abs=0.2)

"""`make gpu` where there is no GPU: which interpreter it takes, what it keeps, and what it writes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tools.gpu import __main__ as command
from tools.gpu import machine, page, parts
from tools.gpu.kept import KeptSteps, StepSaid
from tools.gpu.machine import NEEDED, ROOT, NoGpu, Python, candidates, chosen, look, provide
from tools.gpu.parts import PARTS, GpuPart, GpuStep, run

#: a cupy that finds a device, or none
CUPY = """
__version__ = "14.2.0"
class cuda:
    class runtime:
        def getDeviceCount(): {count}
        def getDeviceProperties(n): return {{"name": b"Nobody's GPU"}}
        def runtimeGetVersion(): return 13000
    class Device:
        def __init__(self, n): self.pci_bus_id = "0000:01:00.0"
"""
FOUND, NONE = "return 1", "raise RuntimeError('cudaErrorNoDevice:\\n no device')"
GPU = Python("/python", "3.12.3", cupy="14.2.0", device="Nobody's GPU", cuda=13000)


@pytest.fixture
def fake(tmp_path: Path) -> Callable[..., str]:
    """Makes an interpreter of a name, with modules of these names and sources and no others of the run's."""

    def made(name: str, **modules: str) -> str:
        folder = tmp_path / f"{name}-modules"
        folder.mkdir()
        for module, source in modules.items():
            (folder / f"{module}.py").write_text(source)
        path = tmp_path / name / "python3"
        path.parent.mkdir()
        path.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}" exec "{sys.executable}" "$@"\n')
        path.chmod(0o755)
        return str(path)

    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where everything is kept and written."""
    for module in (machine, parts, command):
        monkeypatch.setattr(module, "FOLDER", tmp_path / "build", raising=False)
    monkeypatch.setattr(page, "FOLDER", tmp_path / "results")
    return tmp_path


def _among(monkeypatch: pytest.MonkeyPatch, *paths: str) -> None:
    monkeypatch.setattr(machine, "candidates", lambda environ: list(paths))


def test_the_first_interpreter_that_finds_a_gpu_is_taken(
    fake: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, blind = fake("plain"), fake("blind", cupy=CUPY.format(count=NONE))
    seeing, other = (fake(name, cupy=CUPY.format(count=FOUND)) for name in ("seeing", "other"))
    _among(monkeypatch, "/absent", plain, blind, seeing, other)
    here = {path: found for path in (plain, blind, seeing, other) if (found := look(path)) is not None}
    assert [found.device for found in here.values()] == ["", "", *2 * ["Nobody's GPU"]]
    assert (here[seeing].cupy, here[seeing].bus, here[seeing].cuda) == ("14.2.0", "0000:01:00.0", 13000)
    monkeypatch.setattr(machine, "look", here.get)
    for with_torch, best in (([], seeing), ([other], other), ([seeing, other], seeing)):
        for path in (seeing, other):
            here[path] = replace(here[path], torch=path in with_torch)
        assert chosen({}) is here[best]
        assert chosen({"GPU_PYTHON": other}) is here[other]


def test_what_is_missing_is_said_in_a_line(fake: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    plain, blind = fake("plain"), fake("blind", cupy=CUPY.format(count=NONE))
    _among(monkeypatch, plain, blind)
    with pytest.raises(NoGpu, match=r"^cupy 14.2.0 of \S+ finds no GPU: RuntimeError: \w+: no device$"):
        chosen({})
    _among(monkeypatch, "/absent", plain)
    with pytest.raises(NoGpu, match=rf"^no cupy in /absent, {plain}; GPU_PYTHON= .*$"):
        chosen({})
    for path, why in ((plain, "has no cupy"), ("/absent", "does not run"), (blind, "finds no GPU")):
        with pytest.raises(NoGpu, match=why):
            chosen({"GPU_PYTHON": path})


def test_interpreters_are_looked_for_on_the_path_and_in_environments(tmp_path: Path) -> None:
    for place in ("usr/bin", "bin", "env/bin"):
        (tmp_path / place).mkdir(parents=True)
    real = tmp_path / "usr/bin/python3.12"
    real.write_text("")
    real.chmod(0o755)
    for link in ("usr/bin/python3", "bin/python3", "env/bin/python3", "env/bin/python"):
        (tmp_path / link).symlink_to(real)
    (tmp_path / "env/pyvenv.cfg").write_text("")
    environ = {"PATH": f"{tmp_path / 'bin'}:{tmp_path / 'usr/bin'}", "VIRTUAL_ENV": str(tmp_path / "env")}
    found = [path for path in candidates(environ) if path.startswith(str(tmp_path))]
    assert found == [str(tmp_path / each) for each in ("env/bin/python3", "env/bin/python", "bin/python3")]
    assert sys.executable in candidates(environ)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_target_says_so_and_exits_2(fake: Callable[..., str]) -> None:
    path = fake("plain")
    # Without what a make that runs the tests tells its own children: levels, directories in what is printed.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make", "gpu", f"PYTHON={sys.executable}", f"GPU_PYTHON={path}"],
        cwd=ROOT, env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert [line for line in done.stderr.splitlines() if not line.startswith("make: ***")] == [
        f"make gpu: GPU_PYTHON={path} has no cupy"
    ]
    assert done.stdout == ""


def _installer(tmp_path: Path, code: int) -> str:
    """An interpreter whose pip notes what it is asked and exits so."""
    path = tmp_path / f"python{code}"
    path.write_text(
        f'#!/bin/sh\ntest "$2" = pip || exec "{sys.executable}" "$@"\n'
        f'echo "$@" > "{path}.said"\nexit {code}\n'
    )
    path.chmod(0o755)
    return str(path)


def test_what_an_interpreter_lacks_is_installed_beside_it(folder: Path) -> None:
    path = _installer(folder, 0)
    assert provide(GPU) is GPU
    found = provide(Python(path, "3.12.3", lacks=("yaml", "msgspec")))
    assert (found.version, found.lacks) == (sys.version.split()[0], [])
    said = Path(f"{path}.said").read_text()
    assert (
        "--no-deps --only-binary=:all: --python-version=3.12 --target=build/gpu/site pyyaml msgspec" in said
    )


def test_what_it_lacks_and_nobody_gives_is_said(folder: Path) -> None:
    path = _installer(folder, 1)
    with pytest.raises(NoGpu, match=rf"^{path} lacks msgspec; where a registry .*site pyyaml msgspec$"):
        provide(Python(path, "3.12.3", lacks=("yaml", "msgspec")))
    lacking = Python(path, "3.12.3", lacks=("yaml",))
    assert provide(lacking) is lacking  # the daemon's packages alone


def test_what_must_be_there_is_all_that_a_client_needs() -> None:
    import tomllib

    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {need.partition(">")[0].replace("-", "_") for need in needs} <= set(NEEDED)


def test_what_is_of_another_state_is_not_there(tmp_path: Path) -> None:
    kept = KeptSteps(tmp_path / "a" / "kept.jsonl", "one")
    assert kept.latest() == {}
    kept.add("step", "failed", 1.0, "why")
    kept.add("step", "passed", 2.0, figures={"a": [1.5]})
    KeptSteps(tmp_path / "a" / "kept.jsonl", "two").add("step", "failed", 3.0)
    with (tmp_path / "a" / "kept.jsonl").open("a") as file:
        file.write('{"of": "one", "step": "st')
    assert kept.latest() == {"step": StepSaid("passed", 2.0, "", {"a": [1.5]})}
    kept.add("other", "passed", 1.0)
    assert {*kept.latest()} == {"step", "other"}


def _part(*steps: GpuStep, name: str = "bench") -> GpuPart:
    return GpuPart(name, 1.0, lambda python: list(steps), ())


def _python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def test_steps_are_run_kept_and_not_run_again(folder: Path) -> None:
    count = folder / "count"
    counting = f"open({str(count)!r}, 'a').write('x'); print('words'); print('{{\"a\": 1}}')"
    steps = [
        GpuStep("good", _python(counting), 60),
        GpuStep("bad", _python("import sys; sys.exit('no good')"), 60),
        GpuStep("slow", _python("import signal; signal.pause()"), 1),
        GpuStep("left out", [], 0, why="it is not here"),
        GpuStep(
            "named",
            _python("import os; print(os.environ['NAME'], os.environ['GRADD_GPU_SECONDS'])"),
            60,
            {"NAME": "N"},
        ),
    ]
    told: list[str] = []
    for turn in (1, 2):
        said = run(_part(*steps), GPU, 1e6, told.append)
        assert count.read_text() == "x"
        outcomes = {name: one.outcome for name, one in said.items()}
        assert outcomes == {
            "good": "passed", "bad": "failed", "slow": "cut", "left out": "skipped", "named": "passed",
        }  # fmt: skip
        assert ("bench good: passed before" in told) == (turn == 2)
    assert said["good"].figures == {"a": 1}
    assert said["bad"].text == "exit code 1\nno good\n"
    assert said["slow"].text.startswith("took over 1 s\n")
    assert said["named"].text == "N 40"
    assert any("no good" in line for line in told)


def test_no_step_is_begun_when_time_is_over(folder: Path) -> None:
    told: list[str] = []
    assert run(_part(GpuStep("late", _python("print(1)"), 60)), GPU, 0, told.append) == {}
    assert told == ["bench late: no time left"]


def test_every_part_has_its_steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from benchmarks.gpu_works import WORKS

    python = look(sys.executable)
    assert python is not None
    files = {
        argument for step in PARTS["tests"].steps(python) for argument in step.command if "/gpu/" in argument
    }
    assert files == {str(path.relative_to(ROOT)) for path in (ROOT / "tests/gpu").glob("test_*.py")}
    assert [step.name for step in PARTS["bench"].steps(python)] == ["fetch", *WORKS]
    assert sum(part.share for part in PARTS.values()) == pytest.approx(1)
    monkeypatch.setattr(shutil, "which", lambda tool, path=None: None)
    assert [step.why for step in PARTS["sanitize"].steps(python)] == ["compute-sanitizer is not here"]
    monkeypatch.setattr(shutil, "which", lambda tool, path=None: f"/{tool}")
    memcheck, racecheck = PARTS["sanitize"].steps(python)
    assert memcheck.command[:2] == ["/compute-sanitizer", "--tool=memcheck"]
    assert racecheck.env == {"GRADD_GPU_EVERY": "24", "GRADD_GPU_BARE": "1"}


def test_a_change_of_the_sources_begins_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "a.py").write_text("1")
    before = machine.digest(["room"], "device")
    (tmp_path / "room" / "a.md").write_text("2")
    assert machine.digest(["room"], "device") == before
    assert machine.digest(["room"], "other") != before
    (tmp_path / "room" / "b.cu").write_text("2")
    assert machine.digest(["room"], "device") != before


def test_tests_that_passed_are_left_out(tmp_path: Path) -> None:
    kept = KeptSteps(tmp_path / "tests.jsonl", "state")
    name = "tests/gpu/test_late.py::test_what_is_held_is_done_afterwards[standin]"
    environ = machine.environment(GRADD_GPU_KEPT=str(tmp_path / "tests.jsonl"), GRADD_GPU_OF="state")
    environ.pop("PYTEST_XDIST_WORKER", None)  # of its processes the first one writes
    line = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", name]
    for code in (0, 5):
        done = subprocess.run(line, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout
        assert [(test, said.outcome) for test, said in kept.latest().items()] in (
            [(name, "passed")],
            [(name, "skipped")],
        )
        if "skipped" in done.stdout:
            pytest.skip("the stand-in needs a compiler")


def test_the_page_has_medians_quartiles_and_ratios() -> None:
    figures = {
        "work": "an MLP", "seconds": {"gradd": [1e-3, 2e-3, 3e-3], "torch eager": [2e-3, 2e-3, 2e-3]},
        "notes": ["torch.compile left out: Late"], "clock": "1980 MHz", "where": "a daemon",
        "versions": {"torch": "2.11.0"},
    }  # fmt: skip
    said = {
        "tests": {
            "tests/gpu/test_plans.py::test_a[gpu]": StepSaid("passed", 1),
            "tests/gpu/test_plans.py::test_b[gpu]": StepSaid("failed", 1),
            "tests/gpu/test_late.py::test_c[gpu]": StepSaid("passed", 1),
            "plans": StepSaid("failed", 9, "exit code 1"),
            "samples": StepSaid("failed", 2, "exit code 4\nno such file"),
        },
        "sanitize": {"memcheck": StepSaid("passed", 3, "ERROR SUMMARY: 0 errors")},
        "bench": {
            "mlp": StepSaid("passed", 9, "", figures),
            "convnet": StepSaid("cut", 9, "took over 9 s\nand more"),
        },
    }  # fmt: skip
    text = page.document(GPU, said, {"driver_version": "580.1", "clocks.sm": "345 MHz"})
    assert text.startswith("# Nobody's GPU\n")
    for line in (
        "driver 580.1, CUDA 13.0, cupy 14.2.0, torch 2.11.0.",
        "SM 345 MHz of at most ?",
        "| late | 1 | 0 | 0 | not to its end yet |", "| plans | 1 | 1 | 0 | failed |",
        "- `tests/gpu/test_plans.py::test_b[gpu]`", "- samples: failed, no such file",
        "| memcheck | passed | ERROR SUMMARY: 0 errors |",
        "| an MLP | 2 (1.5 – 2.5) | 2 (2 – 2) | 3 | 1980 MHz |", "| an MLP | 1 (0.75 – 1.25) |",
        "- an MLP: torch.compile left out: Late", "- convnet: cut, took over 9 s", "- gpt-124m: not run yet",
    ):  # fmt: skip
        assert line in text
    empty: dict[str, dict[str, StepSaid]] = {name: {} for name in PARTS}
    assert page.document(GPU, empty, {}).count("Not run yet.") == 3


def test_a_run_writes_the_page_and_says_what_is_not_done(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "chosen", lambda environ: GPU)
    monkeypatch.setattr(command, "facts", lambda python: {})
    monkeypatch.setattr(command, "ROOT", folder)
    good, bad = GpuStep("good", _python("print('12 passed')"), 60), GpuStep("bad", _python("1 / 0"), 60)
    made = {name: _part(good, name=name) for name in PARTS} | {"sanitize": _part(good, bad, name="sanitize")}
    monkeypatch.setattr(command, "PARTS", made)
    assert command.main(["tests"]) == 0
    text = (folder / "results" / "nobody-s-gpu.md").read_text()
    assert "Not run yet." in text
    assert command.main([]) == 1
    told = capsys.readouterr()
    assert "tests good: passed before" in told.out
    assert "ZeroDivisionError" in told.out
    assert told.err == "make gpu: not done: sanitize bad; the same command goes on\n"
    assert "| good | passed | 12 passed |" in (folder / "results" / "nobody-s-gpu.md").read_text()
    with pytest.raises(SystemExit):
        command.main(["all"])

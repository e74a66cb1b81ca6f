"""The parts of ``make gpu``: their steps, and how a step is run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .kept import KeptSteps, StepSaid
from .machine import FOLDER, PACKAGES, ROOT, Python, digest, environment

#: where NVIDIA's packages put what is not on the PATH
_CUDA = "/usr/local/cuda/bin"
#: seconds that a step that was told to end has for that
_GRACE = 10
#: seconds of a step's that are for its beginning and end
_AROUND = 20
#: of a failed step's log, so many characters
_TOLD = 3000


@dataclass(frozen=True)
class GpuStep:
    """A command that takes at most so many seconds; `why` it is left out, where it is."""

    name: str
    command: Sequence[str]
    seconds: float
    env: dict[str, str] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True)
class GpuPart:
    """`share` of the seconds of a whole run; `folders`: the sources that its results are of; `per_test`: a
    step's tests are kept too, by the step itself.
    """

    name: str
    share: float
    steps: Callable[[Python], list[GpuStep]]
    folders: Sequence[str]
    per_test: bool = False

    def kept(self, python: Python) -> KeptSteps:
        """What its steps came to on this device."""
        return KeptSteps(FOLDER / f"{self.name}.jsonl", self.of(python))

    def of(self, python: Python) -> str:
        """What its results are of."""
        return digest(self.folders, python.path, python.version, python.cupy, python.device)


def _pytest(python: Python, *arguments: str) -> list[str]:
    # warnings of other versions than the project's own are no errors, and no plugin but xdist's is known
    return [python.path, "-m", "pytest", "-o", "minversion=7", "-W", "default", "-q", "-m", "gpu", *arguments]


def _tests(python: Python) -> list[GpuStep]:
    spread = ["-p", "xdist", "-n", "auto", "--maxprocesses", "8"] if _has(python, "xdist") else []
    return [
        GpuStep(name, _pytest(python, *spread, f"tests/gpu/test_{name}.py"), 300)
        for name in ("kernels", "late", "plans", "products", "samples")
    ]


def _has(python: Python, module: str) -> bool:
    command = [python.path, "-c", f"import {module}"]
    return subprocess.run(command, env=environment(), capture_output=True, check=False).returncode == 0


#: under a tool that makes all slow some cases are run, each array in memory of its own
_SHARE = {"GRADD_GPU_BARE": "1"}


def _sanitize(python: Python) -> list[GpuStep]:
    tool = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=_CUDA)
    if tool is None:
        return [GpuStep("memcheck", [], 0, why="compute-sanitizer is not here")]
    told = ["--error-exitcode=86", "--report-api-errors=no", "--print-limit=20"]
    tests = _pytest(python, "tests/gpu/test_kernels.py")
    return [
        GpuStep(name, [tool, f"--tool={name}", *told, *tests], 300, _SHARE | {"GRADD_GPU_EVERY": every})
        for name, every in (("memcheck", "8"), ("racecheck", "24"))
    ]


#: what is measured, in `benchmarks.gpu`, and how many seconds each may take
WORKS = {"fetch": 40, "mlp": 75, "transformer": 90, "convnet": 90, "char-gpt": 110, "gpt-124m": 180}


def _bench(python: Python) -> list[GpuStep]:
    return [
        GpuStep(name, [python.path, "-m", "benchmarks.gpu", name], seconds) for name, seconds in WORKS.items()
    ]


PARTS = {
    part.name: part
    for part in (
        GpuPart("tests", 0.4, _tests, (*PACKAGES, "tests"), per_test=True),
        GpuPart("sanitize", 0.15, _sanitize, (*PACKAGES, "tests")),
        GpuPart("bench", 0.45, _bench, (*PACKAGES, "benchmarks")),
    )
}


def run(
    part: GpuPart, python: Python, seconds: float, told: Callable[[str], None] = print
) -> dict[str, StepSaid]:
    """Run the steps that have not passed, for so many seconds; what all of them came to."""
    kept, end = part.kept(python), time.monotonic() + seconds
    for step in part.steps(python):
        before = kept.latest().get(step.name)
        left = min(step.seconds, end - time.monotonic())
        if before is not None and before.outcome == "passed":
            told(f"{part.name} {step.name}: passed before")
        elif step.why:
            kept.add(step.name, "skipped", 0, step.why)
            told(f"{part.name} {step.name}: skipped, {step.why}")
        elif left <= 0:
            told(f"{part.name} {step.name}: no time left")
        else:
            said = _run(part, step, python, left, kept)
            told(f"{part.name} {step.name}: {said.outcome}, {said.seconds:.0f} s")
            if said.outcome != "passed":
                told(said.text[-_TOLD:])
    return kept.latest()


def _run(part: GpuPart, step: GpuStep, python: Python, seconds: float, kept: KeptSteps) -> StepSaid:
    """One step in a session of its own, so that all of it ends with it; its output goes to a file."""
    log = FOLDER / "logs" / f"{part.name}-{step.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    own = f"{max(1, seconds - _AROUND):.0f}"
    env = environment(GRADD_GPU="1", GRADD_GPU_SECONDS=own, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    if part.per_test:
        env |= {"GRADD_GPU_KEPT": str(FOLDER / f"{part.name}.jsonl"), "GRADD_GPU_OF": part.of(python)}
    began = time.monotonic()
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            step.command, cwd=ROOT, env=env | step.env, stdout=out, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            code: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
    took, text = time.monotonic() - began, log.read_text(encoding="utf-8", errors="replace")
    if code is None:
        return kept.add(step.name, "cut", took, f"took over {seconds:.0f} s\n{text[-_TOLD:]}")
    if code in (0, 5):  # 5: nothing is left of its tests
        return kept.add(step.name, "passed", took, _summary(text), _figures(text))
    return kept.add(step.name, "failed", took, f"exit code {code}\n{text[-_TOLD:]}")


def _end(process: subprocess.Popen[Any]) -> None:
    """End a step and whatever it started."""
    for sign in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            continue


def _summary(text: str) -> str:
    """The last line that says something: pytest's count, the sanitizer's of errors."""
    lines = [line.strip("= \n") for line in text.splitlines() if line.strip("= \n")]
    return lines[-1] if lines and not lines[-1].startswith("{") else ""


def _figures(text: str) -> dict[str, Any]:
    """What a benchmark printed: its last line, if that is an object of JSON."""
    last = (text.strip().splitlines() or [""])[-1]
    found: dict[str, Any] = json.loads(last) if last.startswith("{") else {}
    return found

"""The interpreter that is measured: how it was built, and which other one would be faster.

`python -m benchmarks` runs on the fastest of its version that it finds, or on BENCH_PYTHON. Much of what
gradd costs is bytecode, and two builds of one version differ by a third in it: with profile-guided
optimisation (PGO), say, and without.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import msgspec

from .daemon import ROOT

#: asked of an interpreter: the variables it was built with, and what a turn of a loop takes at best
_ASK = """
import json, sys, sysconfig, time
class Cell:
    __slots__ = ("held",)
    def __init__(self, held): self.held = held
    def plus(self, more): return self.held + more
def loop(turns):
    found, cell = {}, Cell(1)
    for n in range(turns):
        found[n & 63] = cell.plus(n)
        cell = Cell(len(found))
        isinstance((n, cell), tuple)
best = float("inf")
for _ in range(int(sys.argv[1])):
    began = time.perf_counter()
    loop(20_000)
    best = min(best, time.perf_counter() - began)
names = ("CONFIG_ARGS", "CFLAGS", "CONFIGURE_CFLAGS_NODIST", "PY_CORE_CFLAGS", "Py_DEBUG", "Py_GIL_DISABLED")
print(json.dumps({
    "path": sys.executable, "base": sys.base_prefix, "version": sys.version.split()[0],
    "compiler": sys.version.partition("[")[2].rstrip("]"), "abi": sysconfig.get_config_var("SOABI"),
    "variables": {name: str(sysconfig.get_config_var(name) or "") for name in names},
    "turn": 1e9 * best / 20_000,
}))
"""
#: of the best turns of two interpreters, what is no chance
_FASTER = 0.9


class Interpreter(msgspec.Struct):
    """One that is here. `turn`: ns that a turn of a small loop took at best."""

    path: str
    base: str
    version: str
    compiler: str
    abi: str
    variables: dict[str, str]
    turn: float

    @property
    def said(self) -> list[str]:
        """What it says about its build. Distributions often leave out flags that they built with."""
        all_ = " ".join(self.variables.values())
        marks = {
            "PGO": "--enable-optimizations" in all_ or "-fprofile-use" in all_,
            "LTO": "--with-lto" in all_ or "-flto" in all_,
            "debug": self.variables["Py_DEBUG"] == "1",
            "no GIL": self.variables["Py_GIL_DISABLED"] == "1",
        }
        return [mark for mark, yes in marks.items() if yes]

    def __str__(self) -> str:
        built = f"built with {' and '.join(self.said)}" if self.said else "which names neither PGO nor LTO"
        return (
            f"Interpreter: {self.version}, {self.compiler}, {built}; a turn of a small loop takes "
            f"{self.turn:.0f} ns."
        )


def look(path: str, tries: int = 25) -> Interpreter | None:
    """The interpreter at `path`, None where there is none that runs."""
    try:
        done = subprocess.run(
            [path, "-I", "-c", _ASK, str(tries)], capture_output=True, timeout=60, check=True, cwd="/"
        )
        return msgspec.json.decode(done.stdout.splitlines()[-1], type=Interpreter)
    except (OSError, subprocess.SubprocessError, IndexError, msgspec.DecodeError):
        return None


def others() -> list[str]:
    """Where interpreters of this version may be: what PATH has of their names."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = [shutil.which(each, path=folder) for folder in folders for each in (name, "python3")]
    return list(dict.fromkeys(os.path.realpath(each) for each in found if each))


def chosen(wanted: str | None = None) -> Interpreter:
    """`wanted`, or of this one and `others` the fastest. Exits where `wanted` cannot run these packages."""
    own = look(sys.executable)
    assert own is not None
    if wanted:
        found = look(wanted)
        if found is None:
            raise SystemExit(f"BENCH_PYTHON={wanted} does not run")
        if found.abi != own.abi:
            raise SystemExit(
                f"BENCH_PYTHON={wanted} is {found.version} ({found.abi}); the packages here are for "
                f"{own.version} ({own.abi}). For an environment of its own: make bench VENV=build/venv "
                f"PYTHON={wanted}"
            )
        return found
    best = own
    for path in others():
        found = look(path)
        if found is not None and found.abi == own.abi and found.base != best.base and _is_faster(found, best):
            best = found
    return best


def _is_faster(one: Interpreter, other: Interpreter, rounds: int = 3) -> bool:
    """Whether `one` runs bytecode faster than `other` for certain; notes the best that each did."""
    for each in [one, other] * rounds:  # in turn, as other work on the machine comes and goes
        again = look(each.path)
        if again is not None:
            each.turn = min(each.turn, again.turn)
    return one.turn < _FASTER * other.turn


def environment_of(interpreter: Interpreter, folder: Path = ROOT / "build" / "bench-python") -> str:
    """The path of an interpreter with the packages of this one: its own, or one in a new `folder`."""
    if interpreter.base == sys.base_prefix:
        return sys.executable
    subprocess.run([interpreter.path, "-m", "venv", "--clear", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    mine = sysconfig.get_path("purelib")
    there = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    # addsitedir, so that packages installed in place are there too
    (Path(there) / "packages.pth").write_text(f"import site; site.addsitedir({mine!r})\n")
    return str(python)


def run_on_best() -> Interpreter:
    """Go on in the interpreter that BENCH_PYTHON names, or the fastest; returns it once it is this one."""
    best = chosen(os.environ.get("BENCH_PYTHON"))
    python = environment_of(best)
    if python != sys.executable:
        os.execve(python, [python, *sys.orig_argv[1:]], {**os.environ, "BENCH_PYTHON": python})
    return best

"""`python -m tools.packages`: wheel and sdist, built, checked, and installed and used on every Python that is
here, in fresh environments. Prints sizes and counts; exits 1 where anything fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
GRADIENT = """import gradd
x = gradd.tensor([3.0], requires_grad=True)
(x * x).sum().backward()
assert x.grad.tolist() == [6.0]"""


class Check(NamedTuple):
    """One thing that was tried."""

    what: str
    #: what it said; empty where it went well
    fault: str


def tried(what: str, *command: str | Path, environ: dict[str, str] | None = None) -> Check:
    """Run a command that is to end with 0."""
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    fault = (
        "" if done.returncode == 0 else (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
    )
    print(f"{'ok' if not fault else 'FAILED':6} {what}", flush=True)
    return Check(what, fault)


def interpreters() -> dict[str, str]:
    """By its version, each interpreter that starts and makes environments: of the PATH, or of pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    path = os.pathsep.join([*map(str, pyenv.glob("*/bin")), os.environ.get("PATH", "")])
    found = {}
    for version in VERSIONS:
        python = shutil.which(f"python{version}", path=path)
        if (
            python
            and not subprocess.run([python, "-c", "import venv"], capture_output=True, check=False).returncode
        ):
            found[version] = python
    return found


def size(folder: Path) -> int:
    """Bytes of the files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def built(dist: Path) -> Iterator[Check]:
    """Build the sdist, and from it the wheel; look at both."""
    shutil.rmtree(dist, ignore_errors=True)
    python = sys.executable
    yield tried("build the sdist, and the wheel from it", python, "-m", "build", f"--outdir={dist}")
    files = sorted(dist.glob("gradd-*"))
    yield tried("check-wheel-contents", python, "-m", "check_wheel_contents", *dist.glob("*.whl"))
    yield tried("twine check --strict", python, "-m", "twine", "check", "--strict", *files)
    for file in files:
        print(f"       {file.name}: {file.stat().st_size / 1e6:.2f} MB")


def installed(wheel: Path, version: str, python: str, folder: Path) -> Iterator[Check]:
    """Install the client alone, then what serves, each in an environment of its own, and compute in it."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("GRADD_", "PYTHON"))}
    environ |= {"HOME": str(folder), "XDG_RUNTIME_DIR": ""}
    for extra in ("", "[server]"):
        name = f"Python {version}: gradd{extra}"
        home, files = folder / f"venv{extra}", folder / f"files{extra}"
        subprocess.run([python, "-m", "venv", "--without-pip", home], check=True)
        pip = (sys.executable, "-m", "pip", "--python", home / "bin/python", "--disable-pip-version-check")
        yield tried(f"{name} downloads", *pip, "download", "--quiet", f"--dest={files}", f"{wheel}{extra}")
        offline = ("install", "--quiet", "--no-index", "--no-compile", f"--find-links={files}")
        yield tried(f"{name} installs", *pip, *offline, f"{wheel}{extra}")
        print(f"       {size(files) / 1e6:.1f} MB downloaded, {size(home) / 1e6:.0f} MB installed")
        yield tried(f"{name} computes a gradient", home / "bin/python", "-c", GRADIENT, environ=environ)
        if extra:
            yield tried(f"{name} serves: gradd demo", home / "bin/gradd", "demo", environ=environ)


def checked(pythons: dict[str, str], folder: Path) -> Iterator[Check]:
    """All of it, in a folder that is made anew."""
    yield from built(folder)
    for wheel in folder.glob("*.whl"):
        for version, python in pythons.items():
            yield from installed(wheel, version, python, folder / version)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try everything, and print what came of it; 1 where something failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build/packages", help="where all of it is done"
    )
    given = parser.parse_args(arguments)
    pythons = interpreters()
    checks = list(checked(pythons, given.folder.absolute()))
    failed = [check for check in checks if check.fault]
    for check in failed:
        print(f"\n{check.what}:\n{check.fault}", file=sys.stderr)
    absent = [version for version in VERSIONS if version not in pythons]
    print(f"Python {', '.join(pythons)}" + (f"; not here: {', '.join(absent)}" if absent else ""))
    print(f"{len(checks) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not pythons else 0


if __name__ == "__main__":
    sys.exit(main())

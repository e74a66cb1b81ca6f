"""Which interpreter has cupy and finds a GPU, and what that GPU is."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: what is kept between calls: results, compiled kernels, packages
FOLDER = ROOT / "build" / "gpu"
#: packages that an interpreter lacked
SITE = FOLDER / "site"
PACKAGES = ("client", "engine", "protocol", "runtime", "server")
#: modules that must be there beside cupy, and what installs them where that has another name
NEEDED = (
    "anyio", "certifi", "h11", "httpcore", "httpx", "idna", "iniconfig", "ml_dtypes", "msgspec", "numpy",
    "packaging", "pluggy", "pygments", "pytest", "websockets",
)  # fmt: skip
#: for a daemon of the benchmarks' own; without them sessions are of the process that measures
SERVING = (
    "annotated_doc", "annotated_types", "click", "fastapi", "httptools", "prometheus_client", "pydantic",
    "pydantic_core", "starlette", "typing_extensions", "typing_inspection", "uvicorn", "uvloop", "yaml",
)  # fmt: skip
_CALLED = {"yaml": "pyyaml"}
#: asked of an interpreter
_ASK = """
import importlib.util, json, sys
found = {"version": sys.version.split()[0]}
found["lacks"] = [name for name in sys.argv[1].split() if importlib.util.find_spec(name) is None]
found["torch"] = importlib.util.find_spec("torch") is not None
try:
    import cupy
    found["cupy"] = cupy.__version__
    runtime = cupy.cuda.runtime
    if runtime.getDeviceCount():
        found["device"] = runtime.getDeviceProperties(0)["name"].decode()
        found["bus"] = cupy.cuda.Device(0).pci_bus_id
        found["cuda"] = runtime.runtimeGetVersion()
except Exception as error:
    found["why"] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""
#: asked of NVIDIA's tool
FACTS = ("driver_version", "clocks.sm", "clocks.max.sm", "clocks.mem", "power.limit", "memory.total")
#: how long one may take to say so: the first use of a device is slow
_PATIENCE = 120


class NoGpu(Exception):
    """Why nothing can be run here, in one line."""


@dataclass(frozen=True)
class Python:
    """An interpreter. `lacks`: modules that are not there; `device`: the first GPU that its cupy finds;
    `cuda`: the runtime's version as CUDA counts it; `why`: what cupy raised.
    """

    path: str
    version: str
    lacks: Sequence[str] = ()
    torch: bool = False
    cupy: str = ""
    device: str = ""
    bus: str = ""
    cuda: int = 0
    why: str = ""


def environment(**more: str) -> dict[str, str]:
    """Where the project's packages, and those that the interpreter lacks, are found; and where what is
    compiled is kept.
    """
    paths = [*(str(ROOT / each) for each in PACKAGES), str(SITE), os.environ.get("PYTHONPATH", "")]
    caches = {
        "CUPY_CACHE_DIR": str(FOLDER / "cupy"),
        "TORCHINDUCTOR_CACHE_DIR": str(FOLDER / "inductor"),
        "TRITON_CACHE_DIR": str(FOLDER / "triton"),
    }
    return {**caches, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


def look(path: str) -> Python | None:
    """The interpreter at `path`; None where none runs there."""
    command = [path, "-c", _ASK, " ".join((*NEEDED, *SERVING))]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, env=environment(), check=True
        )
        return Python(path, **json.loads(done.stdout.splitlines()[-1]))
    except (OSError, subprocess.SubprocessError, IndexError, ValueError, TypeError):
        return None


def candidates(environ: Mapping[str, str]) -> list[str]:
    """Where interpreters may be: the project's, that of the environment that is active, those on the PATH."""
    names = ("python3", *(f"python3.{minor}" for minor in range(14, 10, -1)), "python")
    homes = [str(ROOT / ".venv"), environ.get("VIRTUAL_ENV"), environ.get("CONDA_PREFIX")]
    folders = [os.path.join(home, "bin") for home in homes if home]
    folders += environ.get("PATH", os.defpath).split(os.pathsep)
    found = [shutil.which(name, path=folder) for folder in folders for name in names]
    once: dict[str, str] = {}
    for path in [*filter(None, found), sys.executable]:
        of_venv = os.path.exists(os.path.join(os.path.dirname(path), os.pardir, "pyvenv.cfg"))
        # what an environment's link leads to has other packages
        once.setdefault(path if of_venv else os.path.realpath(path), path)
    return list(once.values())


def chosen(environ: Mapping[str, str]) -> Python:
    """GPU_PYTHON, or the first that finds a GPU, one with torch rather than one without. Raises NoGpu."""
    wanted = environ.get("GPU_PYTHON")
    looked = [(path, look(path)) for path in ([wanted] if wanted else candidates(environ))]
    able = [found for _, found in looked if found is not None and found.device]
    if able:
        return max(able, key=lambda found: found.torch)
    having = next((found for _, found in looked if found is not None and found.cupy), None)
    if having is not None:
        why = f": {having.why}" if having.why else ""
        raise NoGpu(_line(f"cupy {having.cupy} of {having.path} finds no GPU{why}"))
    if wanted:
        why = "does not run" if looked[0][1] is None else "has no cupy"
        raise NoGpu(f"GPU_PYTHON={wanted} {why}")
    tried = ", ".join(path for path, _ in looked)
    raise NoGpu(f"no cupy in {tried}; GPU_PYTHON= an interpreter that has it, or pip install cupy-cuda13x")


def _line(text: str) -> str:
    return " ".join(text.split())[:400]


def provide(python: Python) -> Python:
    """The interpreter with what it lacked, from a registry if one answers. Raises NoGpu where it still lacks
    what must be there.
    """
    if not python.lacks:
        return python
    minor = ".".join(python.version.split(".")[:2])
    names = " ".join(_CALLED.get(name, name) for name in python.lacks)
    options = f"--no-deps --only-binary=:all: --python-version={minor} --target={SITE.relative_to(ROOT)}"
    command = f"-m pip install --quiet {options} {names}"
    quick = {"PIP_RETRIES": "0", "PIP_TIMEOUT": "10", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [python.path, *command.split()],
        cwd=ROOT,
        env={**quick, **os.environ},
        capture_output=True,
        check=False,
    )
    found = look(python.path) if done.returncode == 0 else python
    missing = [name for name in (found or python).lacks if name in NEEDED]
    if found is None or missing:
        raise NoGpu(f"{python.path} lacks {', '.join(missing)}; where a registry answers: python3 {command}")
    return found


def facts(python: Python) -> dict[str, str]:
    """What NVIDIA's tool says of the device now, by the names of its query; nothing where it is not there."""
    command = ["nvidia-smi", f"--id={python.bus}", f"--query-gpu={','.join(FACTS)}", "--format=csv,noheader"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    values = [value.strip() for value in said.strip().split("\n")[0].split(",")]
    return dict(zip(FACTS, values, strict=False))


def digest(folders: Iterable[str], *more: str) -> str:
    """What tells the state of the sources in these folders, and of whatever else is said, from another."""
    found = hashlib.sha256("\0".join(more).encode())
    for folder in sorted(folders):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".cu", ".cuh", ".json", ".h") and "__pycache__" not in path.parts:
                found.update(f"{path.relative_to(ROOT)}\0".encode())
                found.update(path.read_bytes())
    return found.hexdigest()[:16]

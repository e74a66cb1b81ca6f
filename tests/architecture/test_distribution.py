"""The wheel as a client gets it: a fresh environment with the SDK alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of a virtual environment that holds `pip install .` and nothing else."""
    home = tmp_path_factory.mktemp("fresh") / "venv"
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    subprocess.run([home / "bin/python", "-m", "pip", "install", "--quiet", ROOT], check=True)
    return home / "bin"


def output(fresh: Path, script: str) -> str:
    # As a user's Python does: bytecode is written once and read from then on.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [fresh / "python", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout


def test_the_sdk_alone_brings_no_server(fresh: Path) -> None:
    heavy = ("fastapi", "cupy", "pydantic", "numba", "torch", "uvicorn")
    found = output(fresh, f"import importlib.util as u; print([n for n in {heavy!r} if u.find_spec(n)])")
    assert found.strip() == "[]"


def test_the_sdk_alone_computes_a_gradient(fresh: Path) -> None:
    lines = (
        "x = gradd.tensor([3.0], requires_grad=True)",
        "(x * x).sum().backward()",
        "print(x.grad.tolist())",
    )
    assert output(fresh, "\n".join(("import gradd", *lines))).strip() == "[6.0]"


def test_the_wheel_holds_the_types(fresh: Path) -> None:
    here = "from pathlib import Path; import gradd; print(*Path(gradd.__file__).parent.rglob('*.pyi'))"
    shipped = {Path(line).name for line in output(fresh, here).split()}
    assert shipped == {path.name for path in (ROOT / "client/gradd").rglob("*.pyi")}
    assert "attached.pyi" in shipped


def test_importing_the_sdk_costs_what_its_dependencies_do(fresh: Path) -> None:
    """In one process each, in turn: the SDK beside numpy and the two libraries that carry its transports.
    How long it takes is a question of the benchmarks (`first_result`).
    """
    script = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    both = [script.format(names) for names in ("numpy, httpx, websockets.sync.client", "gradd")]
    for one in both:
        output(fresh, one)  # compiles the bytecode, once for all users
    taken = [[float(output(fresh, one)) for one in both] for _ in range(3)]
    assert min(mine / theirs for theirs, mine in taken) < 10


def test_the_command_names_the_extra_it_needs(fresh: Path) -> None:
    done = subprocess.run([fresh / "gradd", "serve"], capture_output=True, text=True, check=False)
    assert done.returncode == 69
    assert "pip install 'gradd[server]'" in done.stderr

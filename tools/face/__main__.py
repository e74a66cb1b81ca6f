"""Write the face, or with ``--check`` fail where a file of it is stale."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from . import catalogue, stubs

ROOT = Path(__file__).parents[2]
SDK = ROOT / "client/gradd"
FILES = {
    ROOT / "docs/ops.md": catalogue.catalogue,
    SDK / "_top.pyi": stubs.top,
    SDK / "_tensor/attached.pyi": stubs.methods,
    SDK / "linalg.pyi": stubs.linalg,
    SDK / "fft.pyi": stubs.fft,
    SDK / "signal/windows.pyi": stubs.windows,
    SDK / "special.pyi": stubs.special,
    SDK / "autograd/__init__.pyi": stubs.autograd,
    SDK / "autograd/forward_ad.pyi": stubs.forward_ad,
    SDK / "autograd/functional.pyi": stubs.autograd_functional,
    SDK / "func/__init__.pyi": stubs.func,
    SDK / "nn/_table.pyi": stubs.layers,
    SDK / "nn/functional.pyi": stubs.functional,
    SDK / "return_types.pyi": stubs.return_types,
}


def formatted(path: Path, text: str) -> str:
    """Stubs as ruff lays them out and orders their imports."""
    if path.suffix != ".pyi":
        return text
    ruff = str(Path(sys.executable).with_name("ruff"))
    for verb in (["check", "--quiet", "--fix-only", "--select", "I,RUF022"], ["format", "--quiet"]):
        command = [ruff, *verb, "--stdin-filename", str(path), "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT)
        text = done.stdout
    return text


def main(arguments: list[str]) -> int:
    """Write the files that differ, or name them."""
    stale = []
    for path, make in FILES.items():
        text = formatted(path, make())
        if not path.exists() or path.read_text() != text:
            stale.append(path.relative_to(ROOT).as_posix())
            if "--check" not in arguments:
                path.write_text(text)
    if stale:
        print(f"{'stale' if '--check' in arguments else 'written'}: {', '.join(stale)}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

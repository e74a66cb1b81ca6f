"""What this runs on, as a text for reports of bugs: ``python -m gradd.utils.collect_env``
(torch.utils.collect_env).
"""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from typing import NamedTuple

from .. import cuda
from .._session import current
from ..version import __version__

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main"]

_LIBRARIES = ("numpy", "httpx", "websockets", "msgspec", "ml-dtypes")


class SystemEnv(NamedTuple):
    """What `get_env_info` finds, as texts; PyTorch's names where the things are the same."""

    torch_version: str
    is_debug_build: str
    os: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    session: str
    cpu_info: str
    pip_packages: list[str]


def _installed(name: str) -> str:
    try:
        return f"{name}=={metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return f"{name}: not installed"


def get_env_info() -> SystemEnv:
    """What this runs on, and the session that is current. Connects where nothing did so far."""
    return SystemEnv(
        torch_version=f"gradd {__version__}",
        is_debug_build="False",
        os=f"{platform.system()} {platform.release()} ({platform.machine()})",
        python_version=f"{platform.python_version()} ({sys.maxsize.bit_length() + 1}-bit runtime)",
        python_platform=platform.platform(),
        is_cuda_available=str(cuda.is_available()),
        session=f"on {current().backend.device}",
        cpu_info=platform.processor() or platform.machine(),
        pip_packages=[_installed(name) for name in _LIBRARIES],
    )


def get_pretty_env_info() -> str:
    """`get_env_info` as a text of several lines."""
    found = get_env_info()
    packages = "\n".join(f"[pip3] {line}" for line in found.pip_packages)
    return f"""PyTorch version: {found.torch_version}
Is debug build: {found.is_debug_build}

OS: {found.os}
Python version: {found.python_version}
Python platform: {found.python_platform}
Is CUDA available: {found.is_cuda_available}
Session: {found.session}

CPU:
{found.cpu_info}

Versions of relevant libraries:
{packages}"""


def main() -> None:
    """Print it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()

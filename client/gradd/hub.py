"""Models and weights by their address (torch.hub): those of a folder or file of this machine, and weights
over HTTPS. No code is fetched over a network.

Source: https://docs.pytorch.org/docs/stable/hub.html
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from ._files import load as _load_file
from .utils._progress import bar

_CONF = "hubconf"
_HASH = re.compile(r"-([a-f0-9]*)\.")
#: as PyTorch names it, whose libraries ask for it
HASH_REGEX = _HASH
_set: list[str] = []


def _get_torch_home() -> str:
    """``$TORCH_HOME``, else ``~/.cache/torch``; libraries keep weights of theirs there."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder of what was fetched: as `set_dir` says, else ``$TORCH_HOME/hub``, else
    ``~/.cache/torch/hub``.
    """
    return _set[0] if _set else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder of what is fetched."""
    _set[:] = [os.path.expanduser(os.fspath(d))]


def load(
    repo_or_dir: str, model: str, *args: Any, source: str = "github", trust_repo: Any = None,
    force_reload: bool = False, verbose: bool = True, skip_validation: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """Call `model` of the hubconf.py in a folder (``source="local"``; torch.hub.load).

    NotImplementedError for GitHub: clone the repository and name its folder. RuntimeError where modules are
    missing that it depends on, or it has no such function.
    """
    return _entry(repo_or_dir, model, source)(*args, **kwargs)


def help(github: str, model: str, *, source: str = "github", **options: Any) -> str | None:
    """The documentation of `model` in a hubconf.py (torch.hub.help); folders as in `load`."""
    return _entry(github, model, source).__doc__


def list(github: str, *, source: str = "github", **options: Any) -> Any:
    """The names that a hubconf.py offers (torch.hub.list); folders as in `load`."""
    conf = _conf(github, source)
    return [name for name in dir(conf) if callable(getattr(conf, name)) and not name.startswith("_")]


def _entry(folder: str, model: str, source: str) -> Callable[..., Any]:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    conf = _conf(folder, source)
    missing = [name for name in getattr(conf, "dependencies", ()) if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    found = getattr(conf, model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found  # type: ignore[no-any-return]


def _conf(folder: str, source: str) -> Any:
    if source.lower() not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source.lower() == "github":
        raise NotImplementedError(
            "gradd runs no code that it fetches: clone the repository, and load it with source='local'"
        )
    file = Path(folder) / f"{_CONF}.py"
    spec = importlib.util.spec_from_file_location(_CONF, file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(made)
    finally:
        sys.path.remove(folder)
    return made


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Write what is at `url` to a file, which appears when it is whole. RuntimeError for another SHA-256 than
    one that begins with `hash_prefix`.
    """
    from urllib.request import urlopen  # which takes as long to import as many of ours

    digest = hashlib.sha256()
    target = Path(dst)
    part, name = tempfile.mkstemp(dir=target.parent, suffix=".part")
    try:
        with os.fdopen(part, "wb") as out, urlopen(url) as found:
            while chunk := found.read(1 << 20):
                digest.update(chunk)
                out.write(chunk)
        if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
        os.replace(name, target)
    finally:
        Path(name).unlink(missing_ok=True)


def load_state_dict_from_url(
    url: str, model_dir: str | None = None, map_location: Any = None, progress: bool = True,
    check_hash: bool = False, file_name: str | None = None, weights_only: bool = True,
) -> Any:  # fmt: skip
    """`gradd.load` of what is at `url`, which is fetched once into `model_dir`, or ``checkpoints`` in the
    folder of `get_dir`. With `check_hash` the file's name holds the beginning of its SHA-256: RuntimeError
    for another.
    """
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    held = os.path.join(folder, name)
    if not os.path.exists(held):
        sys.stdout.write(f'Downloading: "{url}" to {held}\n')
        known = _HASH.search(name) if check_hash else None
        download_url_to_file(url, held, known.group(1) if known else None, progress)
    return _load_file(held, map_location=map_location)


def __getattr__(name: str) -> Any:
    return bar(name, __name__)

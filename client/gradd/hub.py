"""Weights of published models (torch.hub), from its cache on this machine: nothing is downloaded or run.

Source: https://docs.pytorch.org/docs/stable/hub.html
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlparse

from ._files import load as _load

__all__ = ["download_url_to_file", "get_dir", "load", "load_state_dict_from_url", "set_dir"]

_chosen: str | None = None


def get_dir() -> str:
    """The folder of the cache: `set_dir`'s, or ``$TORCH_HOME/hub``, by default ``~/.cache/torch/hub``."""
    if _chosen is not None:
        return _chosen
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.join(os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch"))), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder of the cache."""
    global _chosen
    _chosen = os.path.expanduser(d)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """The state dict that PyTorch, or the user, has put in the cache as the last part of `url`.

    Raises FileNotFoundError that names the file where it is not there. It is loaded as by `gradd.load`.
    """
    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    path = os.path.join(folder, file_name or os.path.basename(urlparse(url).path))
    if not os.path.exists(path):
        raise FileNotFoundError(f"gradd downloads nothing: put {url} into {path}")
    return _load(path, map_location, weights_only=weights_only)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Raises NotImplementedError: gradd downloads nothing."""
    raise NotImplementedError(f"gradd downloads nothing: put {url} into {dst}")


def load(repo_or_dir: str, model: str, *args: Any, **kwargs: Any) -> Any:
    """Raises NotImplementedError: code of a repository is not fetched and run."""
    raise NotImplementedError(
        f"gradd runs no code of a repository: build {model} of {repo_or_dir} here and load its weights"
    )

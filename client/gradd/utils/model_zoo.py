"""Weights by their address, under the name that older models import (torch.utils.model_zoo).

Source: https://docs.pytorch.org/docs/stable/model_zoo.html
"""

from __future__ import annotations

import importlib
from typing import Any

from ._progress import bar

__all__ = ["load_url"]


def load_url(
    url: str, model_dir: str | None = None, map_location: Any = None, progress: bool = True,
    check_hash: bool = False, file_name: str | None = None, weights_only: bool = True,
) -> Any:  # fmt: skip
    """As `hub.load_state_dict_from_url`, which raises its errors."""
    load = importlib.import_module("gradd.hub").load_state_dict_from_url
    return load(url, model_dir, map_location, progress, check_hash, file_name, weights_only)


def __getattr__(name: str) -> Any:
    return bar(name, __name__)

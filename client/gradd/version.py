"""What this build has (torch.version): gradd's own version, and no GPU's toolkit on the client's side."""

from __future__ import annotations

from gradd_protocol.version import VERSION as __version__

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]

debug = False
git_version = "Unknown"
#: of toolkits that PyTorch is built with: the daemon has its own
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None

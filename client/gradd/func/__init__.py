"""Function transforms, spelled as torch.func."""

from gradd_engine.transforms.vmap import vmap

__all__ = ["vmap"]

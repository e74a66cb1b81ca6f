"""Variable under the name of its file in PyTorch (torch.autograd.variable)."""

from gradd_engine.legacy import Variable

__all__ = ["Variable"]

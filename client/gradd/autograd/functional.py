"""Jacobians, Hessians and products with them, as torch.autograd.functional."""

from gradd_engine.transforms import hvp, jacobian, vhp
from gradd_engine.transforms.functional import hessian, jvp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

"""Products with Jacobians and Hessians of functions, spelled as torch.autograd.functional."""

from gradd_engine.transforms.functional import hessian, hvp, jacobian, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

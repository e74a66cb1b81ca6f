"""Function transforms, as torch.func; they nest to any depth."""

from gradd_engine.batching.vmap import vmap
from gradd_engine.transforms import grad_and_value, jacfwd, jacrev, linearize
from gradd_engine.transforms.grad import grad, vjp
from gradd_engine.transforms.jac import hessian, jvp

from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]

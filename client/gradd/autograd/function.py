"""torch.autograd.function: `Function`, its ``ctx``, and `once_differentiable`."""

from gradd_engine.custom import BackwardNode as BackwardCFunction
from gradd_engine.custom import BackwardNode as FunctionCtx
from gradd_engine.custom import Function, InplaceFunction, once_differentiable

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]

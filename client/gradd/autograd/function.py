"""torch.autograd.function: `Function`, its ``ctx``, and the decorator of backwards that end there."""

from gradd_engine.custom.function import Function, InplaceFunction, once_differentiable
from gradd_engine.custom.function_node import BackwardNode as BackwardCFunction
from gradd_engine.custom.function_node import BackwardNode as FunctionCtx

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]

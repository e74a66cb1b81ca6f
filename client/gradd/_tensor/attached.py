"""The base of `Tensor`: the engine's tensor. Its methods are attached when the declarations are imported;
their types are in the stub.
"""

from gradd_engine.tensor import Tensor as Methods

__all__ = ["Methods"]

"""What `Tensor` extends: the engine's tensor. Declarations attach its methods when they are imported; their
types stand in the stub beside.
"""

from gradd_engine.tensor import Tensor as Methods

__all__ = ["Methods"]

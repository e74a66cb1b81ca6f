"""Layers and losses.

Importing this room declares its ops.
"""

from . import (
    activations,
    attention,
    avgpool,
    batchnorm,
    bce,
    blocks,
    conv,
    convcheck,
    convroom,
    dropout,
    groupnorm,
    instancenorm,
    layernorm,
    losses,
    margins,
    nll,
    pooling,
    recurrent,
    softhard,
    softmax,
    vision,
)

__all__ = [
    "activations",
    "attention",
    "avgpool",
    "batchnorm",
    "bce",
    "blocks",
    "conv",
    "convcheck",
    "convroom",
    "dropout",
    "groupnorm",
    "instancenorm",
    "layernorm",
    "losses",
    "margins",
    "nll",
    "pooling",
    "recurrent",
    "softhard",
    "softmax",
    "vision",
]

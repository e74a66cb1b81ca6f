"""The classes of `gradd.nn` under the paths that they have in PyTorch: ``nn.modules.conv.Conv2d``.

Source of the paths: https://github.com/pytorch/pytorch/tree/main/torch/nn/modules
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from .. import _bases, attention, conv, lazy, normalization, padding, pooling
from ..module import _indented
from . import module as module
from . import utils as utils
from .module import Module as Module

_NN = __package__.rpartition(".")[0]

_ACTIVATIONS = (
    "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish "
    "MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus "
    "Softshrink Softsign Tanh Tanhshrink Threshold"
)
_LOSSES = (
    "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss "
    "HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss MarginRankingLoss "
    "MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss "
    "SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss"
)


def _each(names: str, dims: str = "123") -> str:
    """Names of layers, one for each number of dimensions."""
    return " ".join(f"{name}{n}d" for name in names.split() for n in dims)


#: path -> the names that `gradd.nn` has there; those that it does not have are missing there too
_PUBLIC = {
    "activation": _ACTIVATIONS,
    "adaptive": "AdaptiveLogSoftmaxWithLoss",
    "batchnorm": f"{_each('BatchNorm LazyBatchNorm')} SyncBatchNorm",
    "channelshuffle": "ChannelShuffle",
    "container": "Container ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "conv": _each("Conv ConvTranspose LazyConv LazyConvTranspose"),
    "distance": "CosineSimilarity PairwiseDistance",
    "dropout": f"AlphaDropout Dropout {_each('Dropout')} FeatureAlphaDropout",
    "flatten": "Flatten Unflatten",
    "fold": "Fold Unfold",
    "instancenorm": _each("InstanceNorm LazyInstanceNorm"),
    "linear_cross_entropy_options": "LinearCrossEntropyOptions",
    "linear": "Bilinear Identity LazyLinear Linear",
    "loss": _LOSSES,
    "normalization": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm",
    "padding": _each("CircularPad ConstantPad ReflectionPad ReplicationPad ZeroPad"),
    "pixelshuffle": "PixelShuffle PixelUnshuffle",
    "pooling": (
        f"{_each('AdaptiveAvgPool AdaptiveMaxPool AvgPool LPPool MaxPool MaxUnpool')} "
        f"{_each('FractionalMaxPool', '23')}"
    ),
    "rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
    "sparse": "Embedding EmbeddingBag",
    "transformer": (
        "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer"
    ),
    "upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
}

#: path -> the bases of its layers, which scripts ask `isinstance` about
_BASES: dict[str, dict[str, Any]] = {
    "batchnorm": {
        "_BatchNorm": normalization._BatchNorm,
        "_LazyNormBase": lazy._LazyNorm,
        "_NormBase": normalization._Norm,
    },
    "container": {"_addindent": _indented},
    "conv": {
        "_ConvNd": conv._Conv,
        "_ConvTransposeNd": conv._ConvTranspose,
        "_LazyConvXdMixin": lazy._LazyConvMixin,
    },
    "dropout": {"_DropoutNd": _bases.Dropping},
    "instancenorm": {"_InstanceNorm": normalization._InstanceNorm},
    "lazy": {"LazyModuleMixin": lazy.LazyModuleMixin},
    "linear": {"NonDynamicallyQuantizableLinear": attention.NonDynamicallyQuantizableLinear},
    "loss": {"_Loss": _bases.Loss, "_WeightedLoss": _bases.Weighted},
    "padding": {
        "_CircularPadNd": padding._CircularPad,
        "_ConstantPadNd": padding._ConstantPad,
        "_ReflectionPadNd": padding._ReflectionPad,
        "_ReplicationPadNd": padding._ReplicationPad,
    },
    "pooling": {
        "_AdaptiveAvgPoolNd": _bases.AdaptiveAvgPool,
        "_AdaptiveMaxPoolNd": _bases.AdaptiveMaxPool,
        "_AvgPoolNd": _bases.AvgPool,
        "_LPPoolNd": _bases.PowerPool,
        "_MaxPoolNd": _bases.MaxPool,
        "_MaxUnpoolNd": pooling._MaxUnpool,
    },
}


class _Path(ModuleType):
    """One of PyTorch's files of layers."""

    def __init__(self, name: str, public: str, bases: dict[str, Any]) -> None:
        super().__init__(f"{__name__}.{name}", f"The layers of torch.nn.modules.{name}.")
        self._public = frozenset(public.split())
        self.__dict__.update(bases)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return sorted(self._public.intersection(dir(importlib.import_module(_NN))))
        if name in self._public:
            return getattr(importlib.import_module(_NN), name)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.__all__]


for _name in sorted({*_PUBLIC, *_BASES}):
    _path = _Path(_name, _PUBLIC.get(_name, ""), _BASES.get(_name, {}))
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _path

_ALL = frozenset(f"{' '.join(_PUBLIC.values())} Module".split())


def __getattr__(name: str) -> Any:
    """A layer, as in `gradd.nn`."""
    if name == "__all__":
        return sorted(_ALL.intersection(dir(importlib.import_module(_NN))))
    if name in _ALL:
        return getattr(importlib.import_module(_NN), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

"""Layers as PyTorch writes them: constructors, and what they are called with; both are expressions.

Names in them: the classes of torch.nn; `F`, its functions; `T`, the library; `x(*shape)`, normal numbers;
`u(*shape)`, numbers from 0.1 to 0.9; `k(below, *shape)`, whole numbers; `pm(*shape)`, 1 and -1.
"""

from __future__ import annotations

import re

_ROW, _IMAGE, _VOLUME = "x(2, 4, 7)", "x(2, 4, 4, 5)", "x(1, 4, 3, 4, 5)"
_SPACE = {1: _ROW, 2: _IMAGE, 3: _VOLUME}
_SAME = "x(3, 4)"
_PAIR = "x(3, 4), x(3, 4)"

#: what takes any input; `{}` is for the arguments
_ELEMENTWISE = {
    "CELU": ["", "alpha=0.5", "2.0, True"],
    "ELU": ["", "alpha=0.5", "2.0, True"],
    "GELU": ["", "approximate='tanh'", "'none'"],
    "GLU": ["", "dim=1"],
    "Hardshrink": ["", "0.25", "lambd=1"],
    "Hardsigmoid": ["", "True"],
    "Hardswish": ["", "inplace=True"],
    "Hardtanh": ["", "-2, 2", "-0.5, 0.25, True"],
    "LeakyReLU": ["", "0.2", "negative_slope=0.1, inplace=True"],
    "LogSigmoid": [""],
    "LogSoftmax": ["dim=1", "-1", "dim=0"],
    "Mish": ["", "True"],
    "PReLU": ["", "4", "num_parameters=4, init=0.1"],
    "ReLU": ["", "True", "inplace=False"],
    "ReLU6": ["", "inplace=True"],
    "SELU": ["", "True"],
    "SiLU": ["", "inplace=True"],
    "Sigmoid": [""],
    "Softmax": ["dim=1", "-1", "dim=0"],
    "Softmin": ["dim=1", "0"],
    "Softplus": ["", "2", "beta=0.5, threshold=1"],
    "Softshrink": ["", "0.25", "lambd=1"],
    "Softsign": [""],
    "Tanh": [""],
    "Tanhshrink": [""],
    "Threshold": ["0.1, 20", "-0.5, 3.0, True"],
    "Dropout": ["0.0", "p=1.0", "1, inplace=True"],
    "AlphaDropout": ["0.0"],
    "FeatureAlphaDropout": ["0.0"],
    "Identity": ["", "54, unused=1, other=False"],
    "Flatten": ["", "0, 1", "end_dim=1"],
    "Unflatten": ["1, (2, 2)", "dim=-1, unflattened_size=(4, 1)", "1, [2, -1]"],
    "Linear": ["4, 3", "4, 3, False", "in_features=4, out_features=2, bias=True"],
    "LayerNorm": [
        "4",
        "(3, 4)",
        "[4], 1e-3",
        "4, elementwise_affine=False",
        "4, bias=False",
        "4, 1e-2, True",
    ],
    "RMSNorm": ["4", "(3, 4)", "[4], 1e-3", "4, elementwise_affine=False"],
}
#: what takes rows, images or volumes: arguments by the number of dimensions, or for all
_SPATIAL: dict[str, list[str] | dict[int, list[str]]] = {
    "Conv{}d": {
        1: ["4, 6, 3", "4, 6, (3,), 2, 1", "4, 2, 3, padding='same'", "4, 4, 3, 1, 2, 2, 2, False"],
        2: [
            "4, 6, 3",
            "4, 6, (3, 2), stride=(2, 1), padding=(1, 0)",
            "4, 6, 3, padding='same', dilation=(2, 1)",
            "4, 2, 3, padding='valid', bias=False",
            "4, 4, 3, 1, 1, 1, 4, False, 'reflect'",
            "4, 6, 3, padding=(2, 1), padding_mode='circular'",
            "4, 6, 2, padding='same', padding_mode='replicate'",
            "4, 6, [3, 3], stride=[1, 2]",
        ],
        3: ["4, 2, 3", "4, 4, (1, 2, 3), (1, 2, 1), (0, 1, 1), groups=2", "4, 2, 3, padding='same'"],
    },
    "ConvTranspose{}d": {
        1: ["4, 3, 3", "4, 6, 3, 2, 1, 1, 2", "4, 2, 3, bias=False, dilation=2"],
        2: [
            "4, 3, 3",
            "4, 6, (3, 2), (2, 1), (1, 0), output_padding=(1, 0)",
            "4, 6, 3, stride=2, padding=1, output_padding=1, groups=2, bias=False",
            "4, 2, 2, dilation=(1, 2), padding_mode='zeros'",
        ],
        3: ["4, 2, 2", "4, 2, (1, 2, 2), stride=2, output_padding=(1, 0, 1)"],
    },
    "BatchNorm{}d": [
        "4",
        "4, 1e-3, 0.5",
        "4, affine=False",
        "4, track_running_stats=False",
        "4, momentum=None",
        "4, bias=False",
    ],
    "InstanceNorm{}d": [
        "4",
        "4, affine=True",
        "4, 1e-3, 0.2, True, True",
        "4, track_running_stats=True",
        "4, affine=True, bias=False",
    ],
    "MaxPool{}d": ["2", "3, 2, 1", "2, stride=1, dilation=2", "2, ceil_mode=True", "2, return_indices=True"],
    "AvgPool{}d": ["2", "3, 2, 1", "2, stride=1, ceil_mode=True", "3, 2, 1, True, False"],
    "AdaptiveAvgPool{}d": ["1", "2", "output_size=3"],
    "AdaptiveMaxPool{}d": ["1", "2", "output_size=3, return_indices=True"],
    "LPPool{}d": ["2, 2", "1.5, 2, 1", "2, kernel_size=3, stride=2, ceil_mode=True"],
    "MaxUnpool{}d": ["2", "2, stride=2", "2, 2, 0"],
    "CircularPad{}d": ["1", "padding=2"],
    "ConstantPad{}d": ["1, 3.5", "padding=2, value=0", "-1, 1"],
    "ReflectionPad{}d": ["1", "padding=2"],
    "ReplicationPad{}d": ["1", "padding=2"],
    "ZeroPad{}d": ["1", "padding=2", "-1"],
    "Dropout{}d": ["0.0", "p=0, inplace=True"],
}
#: the same with one argument for each dimension
_EACH = {
    "MaxPool{}d": "({2}), padding=({1})",
    "AvgPool{}d": "({2}), stride=({1})",
    "AdaptiveAvgPool{}d": "({2})",
    "AdaptiveMaxPool{}d": "({2})",
    "MaxUnpool{}d": "({2}), ({2})",
    "CircularPad{}d": "({1}{1})",
    "ConstantPad{}d": "({1}{0}), 2",
    "ReflectionPad{}d": "({1}{0})",
    "ReplicationPad{}d": "({2}{1})",
    "ZeroPad{}d": "({0}{1})",
}
_OTHERS = {
    "Softmax2d()": _IMAGE,
    "RReLU()": None,
    "RReLU(0.1, 0.3, True)": None,
    "RReLU(0.25, 0.25)": _SAME,
    "GroupNorm(2, 4)": _IMAGE,
    "GroupNorm(4, 4, 1e-3, False)": _ROW,
    "GroupNorm(num_groups=1, num_channels=4, eps=0.1)": _SAME,
    "GroupNorm(2, 4, bias=False)": _ROW,
    "LocalResponseNorm(2)": _IMAGE,
    "LocalResponseNorm(3, 1e-2, 0.5, 2.0)": _ROW,
    "SyncBatchNorm(4)": None,
    "AvgPool2d(2, divisor_override=3)": _IMAGE,
    "AvgPool3d((2, 1, 2), 1, 0, False, True, 3)": _VOLUME,
    "AdaptiveAvgPool2d((None, 2))": _IMAGE,
    "AdaptiveMaxPool3d((2, None, 1), True)": _VOLUME,
    "FractionalMaxPool2d(2, output_size=3, _random_samples=u(2, 4, 2))": _IMAGE,
    "FractionalMaxPool2d((2, 1), None, (0.5, 0.7), True, _random_samples=u(2, 4, 2))": _IMAGE,
    "FractionalMaxPool2d(3, output_ratio=0.5)": None,
    "FractionalMaxPool3d(2, output_size=(1, 2, 3), _random_samples=u(1, 4, 3))": _VOLUME,
    "FractionalMaxPool3d((2, 1, 2), None, 0.6, True, u(1, 4, 3))": _VOLUME,
    "Bilinear(4, 3, 2)": "x(5, 4), x(5, 3)",
    "Bilinear(4, 3, 2, False)": "x(4), x(3)",
    "Embedding(5, 3)": "k(5, 2, 4)",
    "Embedding(5, 3, 1)": "k(5, 6)",
    "Embedding(5, 3, padding_idx=-1, scale_grad_by_freq=True)": "k(5, 6)",
    "Embedding(5, 3, max_norm=0.5, norm_type=1.0)": "k(5, 6)",
    "Embedding.from_pretrained(x(5, 3))": "k(5, 6)",
    "Embedding.from_pretrained(x(5, 3), freeze=False, padding_idx=0)": "k(5, 6)",
    "EmbeddingBag(5, 3)": "k(5, 2, 4)",
    "EmbeddingBag(5, 3, mode='sum', padding_idx=2)": "k(5, 6), T.tensor([0, 2, 5])",
    "EmbeddingBag(5, 3, mode='max')": "k(5, 2, 4)",
    "EmbeddingBag(5, 3, mode='sum', include_last_offset=True)": "k(5, 6), T.tensor([0, 2, 6]), x(6)",
    "EmbeddingBag(5, 3, 0.5, 1.0)": "k(5, 2, 4)",
    "EmbeddingBag.from_pretrained(x(5, 3), mode='sum')": "k(5, 2, 4)",
    "CosineSimilarity()": _PAIR,
    "CosineSimilarity(dim=0, eps=1e-3)": _PAIR,
    "PairwiseDistance()": _PAIR,
    "PairwiseDistance(1, 1e-3, True)": _PAIR,
    "Fold((6, 5), (2, 3))": "x(2, 12, 15)",
    "Fold(output_size=(4, 4), kernel_size=2, dilation=1, padding=1, stride=2)": "x(1, 8, 9)",
    "Unfold(2)": _IMAGE,
    "Unfold((2, 3), dilation=(1, 2), padding=1, stride=(2, 1))": _IMAGE,
    "PixelShuffle(2)": _IMAGE,
    "PixelShuffle(upscale_factor=1)": _IMAGE,
    "PixelUnshuffle(2)": "x(1, 2, 4, 6)",
    "ChannelShuffle(2)": _IMAGE,
    "ChannelShuffle(groups=4)": _ROW,
    "Upsample(scale_factor=2)": _ROW,
    "Upsample(scale_factor=(2.0, 1.5), mode='bilinear')": _IMAGE,
    "Upsample(size=(4, 3), mode='bicubic', align_corners=True)": _IMAGE,
    "Upsample((3, 4, 5), mode='trilinear')": _VOLUME,
    "Upsample(size=7, mode='linear')": _ROW,
    "Upsample(None, 1.7, 'nearest-exact', recompute_scale_factor=True)": _IMAGE,
    "UpsamplingNearest2d(scale_factor=2)": _IMAGE,
    "UpsamplingBilinear2d((4, 7))": _IMAGE,
    "UpsamplingBilinear2d(scale_factor=1.5)": _IMAGE,
    "MultiheadAttention(4, 2)": "x(3, 2, 4), x(5, 2, 4), x(5, 2, 4)",
    "MultiheadAttention(4, 1, bias=False, batch_first=True)": "x(2, 3, 4), x(2, 5, 4), x(2, 5, 4)",
    "MultiheadAttention(4, 2, kdim=3, vdim=5)": "x(3, 2, 4), x(5, 2, 3), x(5, 2, 5)",
    "MultiheadAttention(4, 4, 0.0, True, True, True)": "x(3, 4), x(5, 4), x(5, 4)",
    "TransformerEncoderLayer(4, 2, 8, 0.0)": "x(3, 2, 4)",
    "TransformerEncoderLayer(4, 2, 8, 0.0, 'gelu', norm_first=True, batch_first=True)": "x(2, 3, 4)",
    "TransformerEncoderLayer(4, 1, 6, 0.0, F.silu, 1e-3, bias=False)": "x(3, 4)",
    "TransformerDecoderLayer(4, 2, 8, 0.0)": "x(3, 2, 4), x(5, 2, 4)",
    "TransformerDecoderLayer(4, 2, 8, 0.0, activation='gelu', norm_first=True)": "x(3, 2, 4), x(5, 2, 4)",
    "TransformerEncoder(TransformerEncoderLayer(4, 2, 8, 0.0), 2)": "x(3, 2, 4)",
    "TransformerEncoder(TransformerEncoderLayer(4, 2, 8, 0.0), 1, LayerNorm(4))": "x(3, 2, 4)",
    "TransformerDecoder(TransformerDecoderLayer(4, 2, 8, 0.0), 2, LayerNorm(4))": "x(3, 2, 4), x(5, 2, 4)",
    "Transformer(4, 2, 1, 1, 8, 0.0)": "x(3, 2, 4), x(5, 2, 4)",
    "Transformer(4, 1, 1, 2, 8, 0.0, 'gelu', None, None, 1e-5, True, True, False)": "x(2, 3, 4), x(2, 5, 4)",
    "AdaptiveLogSoftmaxWithLoss(6, 12, [3, 7])": "x(5, 6), T.tensor([0, 11, 4, 6, 2])",
    "LinearCrossEntropyLoss(4, 5)": "x(3, 4), k(5, 3)",
    "LinearCrossEntropyLoss(4, 5, bias=True, weight=u(5), reduction='sum')": "x(4), T.tensor(2)",
    "LinearCrossEntropyLoss(4, 5, out_features=(2, 3), bias=True, ignore_index=1)": "x(3, 4), k(5, 3, 2, 3)",
    "LinearCrossEntropyLoss(4, 5, options=LinearCrossEntropyOptions())": "x(3, 4), k(5, 3)",
    "LinearCrossEntropyLoss(4, 5, label_smoothing=0.1)": "x(3, 4), u(3, 5)",
    "AdaptiveLogSoftmaxWithLoss(8, 10, cutoffs=(4,), div_value=2.0, head_bias=True)": "x(8), T.tensor(7)",
}
for _kind in ("RNN", "LSTM", "GRU"):
    for _given, _call in {
        "4, 3": "x(5, 2, 4)",
        "4, 3, 2, batch_first=True": "x(2, 5, 4)",
        "4, 3, bidirectional=True, bias=False": "x(5, 4)",
        "input_size=4, hidden_size=2, num_layers=2, dropout=0.0, bidirectional=True": "x(3, 1, 4)",
    }.items():
        _OTHERS[f"{_kind}({_given})"] = _call
    for _given, _call in {"4, 3": "x(2, 4)", "4, 3, False": "x(4)", "4, hidden_size=2": "x(2, 4)"}.items():
        _OTHERS[f"{_kind}Cell({_given})"] = _call
_OTHERS |= {
    "RNN(4, 3, nonlinearity='relu')": "x(5, 2, 4)",
    "RNN(4, 3, 1, 'relu')": "x(5, 2, 4), x(1, 2, 3)",
    "RNNCell(4, 3, nonlinearity='relu')": "x(2, 4), x(2, 3)",
    "GRUCell(4, 3, True)": "x(2, 4), x(2, 3)",
    "LSTM(4, 3, proj_size=2)": "x(5, 2, 4), (x(1, 2, 2), x(1, 2, 3))",
}
#: losses: arguments, and calls
_LOSSES = {
    "L1Loss": _PAIR,
    "MSELoss": _PAIR,
    "SmoothL1Loss": _PAIR,
    "HuberLoss": _PAIR,
    "KLDivLoss": "x(3, 4), u(3, 4)",
    "BCELoss": "u(3, 4), u(3, 4)",
    "BCEWithLogitsLoss": "x(3, 4), u(3, 4)",
    "SoftMarginLoss": "x(3, 4), pm(3, 4)",
    "HingeEmbeddingLoss": "x(3, 4), pm(3, 4)",
    "MultiLabelMarginLoss": "x(3, 4), T.tensor([[1, 3, -1, 0], [0, -1, 1, 2], [2, 1, 0, 3]])",
    "MultiLabelSoftMarginLoss": "x(3, 4), u(3, 4)",
    "MultiMarginLoss": "x(3, 4), T.tensor([0, 3, 1])",
    "NLLLoss": "x(3, 4), T.tensor([0, 3, 1])",
    "CrossEntropyLoss": "x(3, 4), T.tensor([0, 3, 1])",
    "PoissonNLLLoss": "x(3, 4), u(3, 4)",
    "GaussianNLLLoss": "x(3, 4), x(3, 4), u(3, 4)",
    "CosineEmbeddingLoss": "x(3, 4), x(3, 4), pm(3)",
    "MarginRankingLoss": "x(3), x(3), pm(3)",
    "TripletMarginLoss": "x(3, 4), x(3, 4), x(3, 4)",
    "TripletMarginWithDistanceLoss": "x(3, 4), x(3, 4), x(3, 4)",
    "CTCLoss": "x(5, 2, 4).log_softmax(2), T.tensor([[1, 2], [3, 1]]), T.tensor([5, 4]), T.tensor([2, 1])",
}
_WITH = {
    "SmoothL1Loss": ["beta=0.5"],
    "HuberLoss": ["'sum', 0.5"],
    "KLDivLoss": ["reduction='batchmean'", "log_target=True"],
    "BCELoss": ["weight=u(4)", "size_average=False"],
    "BCEWithLogitsLoss": ["weight=u(4), pos_weight=u(4)"],
    "HingeEmbeddingLoss": ["0.5"],
    "MultiLabelSoftMarginLoss": ["u(4)"],
    "MultiMarginLoss": ["2, 0.5, u(4)", "p=2"],
    "NLLLoss": ["u(4), ignore_index=3", "reduce=False"],
    "CrossEntropyLoss": ["u(4)", "ignore_index=3, label_smoothing=0.1"],
    "PoissonNLLLoss": ["full=True", "False, True, eps=0.1"],
    "GaussianNLLLoss": ["full=True, eps=0.5"],
    "CosineEmbeddingLoss": ["margin=0.5"],
    "MarginRankingLoss": ["0.5"],
    "TripletMarginLoss": ["0.5, 1.0, 1e-3, True"],
    "TripletMarginWithDistanceLoss": ["margin=0.5, swap=True"],
    "CTCLoss": ["zero_infinity=True", "blank=0, reduction='sum'"],
}
_LAZY = {
    "LazyLinear": ["3", "out_features=3, bias=False"],
    "LazyConv{}d": ["3, 2", "4, kernel_size=3, padding=1, groups=2, bias=False"],
    "LazyConvTranspose{}d": ["3, 2", "4, 2, stride=2, output_padding=1"],
    "LazyBatchNorm{}d": ["", "1e-3, affine=False"],
    "LazyInstanceNorm{}d": ["", "affine=True, track_running_stats=True"],
}


def _spread(given: str, n: int) -> str:
    """`({2})` as a number for each of `n` dimensions."""
    return re.sub(r"\{(\d)\}", lambda found: f"{found[1]}, " * n, given)


def _cases() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name, each in _ELEMENTWISE.items():
        found |= {f"{name}({given})": _SAME for given in each}
    for name, many in _SPATIAL.items():
        for n, call in _SPACE.items():
            for given in many[n] if isinstance(many, dict) else many:
                found[f"{name.format(n)}({given})"] = call
            if name in _EACH:
                found[f"{name.format(n)}({_spread(_EACH[name], n)})"] = call
    for made in [name for name in found if name.startswith("MaxUnpool")]:
        pool, args = made.replace("Unpool", "Pool").split("(", 1)
        even = f"x(1, 4, {', '.join('6' * int(made[9]))})"
        found[made] = f"*{pool}({args[:-1]}, return_indices=True)({even})"
    found |= _OTHERS
    for name, call in _LOSSES.items():
        for given in ["", "reduction='sum'", "reduction='none'", *_WITH.get(name, [])]:
            found[f"{name}({given})"] = call
    for name, each in _LAZY.items():
        for n, call in _SPACE.items():
            found |= {f"{name.format(n)}({given})": call for given in each}
    return found


#: constructor -> arguments of a call; None where what comes of it is drawn
CASES = _cases()

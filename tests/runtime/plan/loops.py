"""Training loops of every layer, loss, optimizer and schedule of the SDK: what of them is planned?"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gradd
from gradd import nn, optim
from gradd._transports import local
from gradd.optim import lr_scheduler

STEPS = 6
#: the first step of a loop whose batches are all planned
FIRST_PLANNED = 2


def _fold(y: Any) -> Any:
    """Two rows of four, whatever a layer gives."""
    return y.flatten()[:8].reshape(2, 4)


class _Unpool(nn.Module):
    """Maxima, and an image of these where they were."""

    def __init__(self, pool: Any, unpool: Any) -> None:
        super().__init__()
        self.pool, self.unpool = pool, unpool

    def forward(self, x: Any) -> Any:
        return self.unpool(*self.pool(x))


#: layer -> how it is made, and the shapes of its inputs
LAYERS: dict[str, tuple[Callable[[], Any], list[tuple[int, ...]]]] = {
    "AdaptiveAvgPool1d": (lambda: nn.AdaptiveAvgPool1d(2), [(2, 3, 8)]),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((2, 3)), [(2, 3, 8, 8)]),
    "AlphaDropout": (lambda: nn.AlphaDropout(0.3), [(4, 6)]),
    "AvgPool1d": (lambda: nn.AvgPool1d(2), [(2, 3, 8)]),
    "AvgPool2d": (lambda: nn.AvgPool2d(2), [(2, 3, 8, 8)]),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(3), [(4, 3, 5)]),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(3), [(4, 3, 5, 5)]),
    "BatchNorm3d": (lambda: nn.BatchNorm3d(2), [(2, 2, 3, 3, 3)]),
    "CELU": (lambda: nn.CELU(), [(4, 6)]),
    "ConstantPad1d": (lambda: nn.ConstantPad1d(2, 1.5), [(2, 3, 4)]),
    "ConstantPad2d": (lambda: nn.ConstantPad2d(2, 1.5), [(2, 3, 4)]),
    "ConstantPad3d": (lambda: nn.ConstantPad3d(1, 1.5), [(2, 3, 4, 4)]),
    "Conv1d": (lambda: nn.Conv1d(3, 4, 3), [(2, 3, 8)]),
    "Conv2d": (lambda: nn.Conv2d(3, 4, 3, padding=1), [(2, 3, 8, 8)]),
    "Conv3d": (lambda: nn.Conv3d(2, 3, 2), [(2, 2, 4, 4, 4)]),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(3, 4, 3), [(2, 3, 8)]),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(3, 4, 3, stride=2), [(2, 3, 4, 4)]),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(2, 3, 2), [(1, 2, 3, 3, 3)]),
    "CosineSimilarity": (lambda: nn.CosineSimilarity(), [(8, 6), (8, 6)]),
    "Dropout": (lambda: nn.Dropout(0.3), [(4, 6)]),
    "Dropout1d": (lambda: nn.Dropout1d(0.3), [(4, 6, 3)]),
    "Dropout2d": (lambda: nn.Dropout2d(0.3), [(4, 6, 3, 3)]),
    "Dropout3d": (lambda: nn.Dropout3d(0.3), [(4, 6, 2, 2, 2)]),
    "ELU": (lambda: nn.ELU(), [(4, 6)]),
    "FeatureAlphaDropout": (lambda: nn.FeatureAlphaDropout(0.3), [(4, 6, 3)]),
    "Flatten": (lambda: nn.Flatten(), [(4, 6, 3)]),
    "Fold": (lambda: nn.Fold((4, 5), (2, 2)), [(2, 12, 12)]),
    "GELU": (lambda: nn.GELU(), [(4, 6)]),
    "GLU": (lambda: nn.GLU(), [(4, 6)]),
    "GRU": (lambda: nn.GRU(5, 4, num_layers=2), [(3, 2, 5)]),
    "GRUCell": (lambda: nn.GRUCell(5, 4), [(2, 5)]),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), [(3, 4, 5)]),
    "Hardshrink": (lambda: nn.Hardshrink(), [(4, 6)]),
    "Hardsigmoid": (lambda: nn.Hardsigmoid(), [(4, 6)]),
    "Hardswish": (lambda: nn.Hardswish(), [(4, 6)]),
    "Hardtanh": (lambda: nn.Hardtanh(), [(4, 6)]),
    "Identity": (lambda: nn.Identity(), [(4, 6)]),
    "InstanceNorm1d": (lambda: nn.InstanceNorm1d(3, affine=True, track_running_stats=True), [(4, 3, 5)]),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(3), [(2, 3, 4, 4)]),
    "InstanceNorm3d": (lambda: nn.InstanceNorm3d(2), [(2, 2, 3, 3, 3)]),
    "LSTM": (lambda: nn.LSTM(5, 4, bidirectional=True), [(3, 2, 5)]),
    "LSTMCell": (lambda: nn.LSTMCell(5, 4), [(2, 5)]),
    "LayerNorm": (lambda: nn.LayerNorm(6), [(4, 6)]),
    "LeakyReLU": (lambda: nn.LeakyReLU(), [(4, 6)]),
    "Linear": (lambda: nn.Linear(6, 4), [(4, 6)]),
    "LogSigmoid": (lambda: nn.LogSigmoid(), [(4, 6)]),
    "LogSoftmax": (lambda: nn.LogSoftmax(1), [(4, 6)]),
    "MaxPool1d": (lambda: nn.MaxPool1d(2), [(2, 3, 8)]),
    "MaxPool2d": (lambda: nn.MaxPool2d(2), [(2, 3, 8, 8)]),
    "Mish": (lambda: nn.Mish(), [(4, 6)]),
    "MultiheadAttention": (lambda: nn.MultiheadAttention(8, 2, dropout=0.1), [(3, 2, 8)] * 3),
    "PReLU": (lambda: nn.PReLU(), [(4, 6)]),
    "PairwiseDistance": (lambda: nn.PairwiseDistance(), [(8, 6), (8, 6)]),
    "RMSNorm": (lambda: nn.RMSNorm(6), [(4, 6)]),
    "RNN": (lambda: nn.RNN(5, 4), [(3, 2, 5)]),
    "RNNCell": (lambda: nn.RNNCell(5, 4), [(2, 5)]),
    "ReLU": (lambda: nn.ReLU(inplace=True), [(4, 6)]),
    "ReLU6": (lambda: nn.ReLU6(), [(4, 6)]),
    "SELU": (lambda: nn.SELU(), [(4, 6)]),
    "Sequential": (lambda: nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4)), [(4, 6)]),
    "SiLU": (lambda: nn.SiLU(), [(4, 6)]),
    "Sigmoid": (lambda: nn.Sigmoid(), [(4, 6)]),
    "Softmax": (lambda: nn.Softmax(1), [(4, 6)]),
    "Softmax2d": (lambda: nn.Softmax2d(), [(2, 3, 2, 2)]),
    "Softmin": (lambda: nn.Softmin(1), [(4, 6)]),
    "Softplus": (lambda: nn.Softplus(), [(4, 6)]),
    "Softshrink": (lambda: nn.Softshrink(), [(4, 6)]),
    "Softsign": (lambda: nn.Softsign(), [(4, 6)]),
    "Tanh": (lambda: nn.Tanh(), [(4, 6)]),
    "Tanhshrink": (lambda: nn.Tanhshrink(), [(4, 6)]),
    "Threshold": (lambda: nn.Threshold(0.1, 0.2), [(4, 6)]),
    "Transformer": (
        lambda: nn.Transformer(8, 2, 1, 1, dim_feedforward=8, dropout=0.1), [(3, 2, 8), (2, 2, 8)],
    ),
    "TransformerDecoder": (
        lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 8), 2), [(3, 2, 8), (3, 2, 8)],
    ),
    "TransformerDecoderLayer": (lambda: nn.TransformerDecoderLayer(8, 2, 8), [(3, 2, 8), (3, 2, 8)]),
    "TransformerEncoder": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8), 2, enable_nested_tensor=False),
        [(3, 2, 8)],
    ),
    "TransformerEncoderLayer": (lambda: nn.TransformerEncoderLayer(8, 2, 8), [(3, 2, 8)]),
    "Unflatten": (lambda: nn.Unflatten(1, (2, 3)), [(4, 6)]),
    "Unfold": (lambda: nn.Unfold((2, 2)), [(2, 3, 4, 4)]),
    "Upsample": (lambda: nn.Upsample(scale_factor=2), [(2, 3, 4, 4)]),
    "ZeroPad1d": (lambda: nn.ZeroPad1d(1), [(2, 3, 4)]),
    "ZeroPad2d": (lambda: nn.ZeroPad2d(1), [(2, 3, 4)]),
    "ZeroPad3d": (lambda: nn.ZeroPad3d(1), [(2, 3, 4, 4)]),
    "AdaptiveAvgPool3d": (lambda: nn.AdaptiveAvgPool3d(2), [(1, 2, 4, 4, 4)]),
    "AdaptiveMaxPool1d": (lambda: nn.AdaptiveMaxPool1d(2), [(2, 3, 8)]),
    "AdaptiveMaxPool2d": (lambda: nn.AdaptiveMaxPool2d(2), [(2, 3, 8, 8)]),
    "AdaptiveMaxPool3d": (lambda: nn.AdaptiveMaxPool3d(2), [(1, 2, 4, 4, 4)]),
    "AvgPool3d": (lambda: nn.AvgPool3d(2), [(1, 2, 4, 4, 4)]),
    "FractionalMaxPool2d": (lambda: nn.FractionalMaxPool2d(2, output_size=3), [(2, 3, 8, 8)]),
    "FractionalMaxPool3d": (lambda: nn.FractionalMaxPool3d(2, output_size=2), [(1, 2, 6, 6, 6)]),
    "Bilinear": (lambda: nn.Bilinear(4, 5, 6), [(3, 4), (3, 5)]),
    "ChannelShuffle": (lambda: nn.ChannelShuffle(2), [(2, 4, 3, 3)]),
    "CircularPad1d": (lambda: nn.CircularPad1d(1), [(2, 3, 4)]),
    "CircularPad2d": (lambda: nn.CircularPad2d(1), [(2, 3, 4, 4)]),
    "CircularPad3d": (lambda: nn.CircularPad3d(1), [(1, 2, 3, 3, 3)]),
    "LPPool1d": (lambda: nn.LPPool1d(2, 2), [(2, 3, 8)]),
    "LPPool2d": (lambda: nn.LPPool2d(2, 2), [(2, 3, 4, 4)]),
    "LPPool3d": (lambda: nn.LPPool3d(2, 2), [(1, 2, 4, 4, 4)]),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(2), [(2, 4, 3, 3)]),
    "MaxPool3d": (lambda: nn.MaxPool3d(2), [(1, 2, 4, 4, 4)]),
    "MaxUnpool1d": (lambda: _Unpool(nn.MaxPool1d(2, return_indices=True), nn.MaxUnpool1d(2)), [(2, 3, 8)]),
    "MaxUnpool2d": (lambda: _Unpool(nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)), [(2, 3, 4, 4)]),
    "MaxUnpool3d": (
        lambda: _Unpool(nn.MaxPool3d(2, return_indices=True), nn.MaxUnpool3d(2)), [(1, 2, 4, 4, 4)]
    ),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), [(2, 8, 3, 3)]),
    "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), [(2, 2, 4, 4)]),
    "RReLU": (lambda: nn.RReLU(), [(4, 6)]),
    "ReflectionPad1d": (lambda: nn.ReflectionPad1d(1), [(2, 3, 4)]),
    "ReflectionPad2d": (lambda: nn.ReflectionPad2d(1), [(2, 3, 4, 4)]),
    "ReflectionPad3d": (lambda: nn.ReflectionPad3d(1), [(1, 2, 3, 3, 3)]),
    "ReplicationPad1d": (lambda: nn.ReplicationPad1d(1), [(2, 3, 4)]),
    "ReplicationPad2d": (lambda: nn.ReplicationPad2d(1), [(2, 3, 4, 4)]),
    "ReplicationPad3d": (lambda: nn.ReplicationPad3d(1), [(1, 2, 3, 3, 3)]),
    "SyncBatchNorm": (lambda: nn.SyncBatchNorm(3), [(4, 3, 5)]),
    "UpsamplingBilinear2d": (lambda: nn.UpsamplingBilinear2d(scale_factor=2), [(2, 3, 4, 4)]),
    "UpsamplingNearest2d": (lambda: nn.UpsamplingNearest2d(scale_factor=2), [(2, 3, 4, 4)]),
}  # fmt: skip
#: layers whose input is no float tensor
LOOKUPS: dict[str, Callable[[], Any]] = {
    "Embedding": lambda: nn.Embedding(10, 4, padding_idx=0),
    "EmbeddingBag": lambda: nn.EmbeddingBag(10, 4),
}
#: modules that compute nothing of their own
NO_LAYERS = {
    "DataParallel", "Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "RNNBase",
    "RNNCellBase",
    # another layer from their first input on
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d",
    "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d",
    "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
    # an older name, which warns
    "NLLLoss2d",
}  # fmt: skip


def _signs(*shape: int) -> Any:
    return gradd.ones(*shape) - 2 * (gradd.arange(shape[0]) % 2).reshape(-1, *[1] * (len(shape) - 1))


#: loss -> what it makes of two rows of four, and of a target as large
LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "AdaptiveLogSoftmaxWithLoss": lambda y, t: nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2])(y, t.argmax(1)).loss,
    "BCELoss": lambda y, t: nn.BCELoss()(y.sigmoid(), t),
    "BCEWithLogitsLoss": lambda y, t: nn.BCEWithLogitsLoss()(y, t),
    "CTCLoss": lambda y, t: nn.CTCLoss()(
        y.log_softmax(1).unsqueeze(1), t.argmax(1)[:1].clamp(min=1).unsqueeze(0), [2], [1]
    ),
    "CosineEmbeddingLoss": lambda y, t: nn.CosineEmbeddingLoss()(y, t, _signs(2)),
    "CrossEntropyLoss": lambda y, t: nn.CrossEntropyLoss()(y, t.argmax(1)),
    "GaussianNLLLoss": lambda y, t: nn.GaussianNLLLoss()(y, t, t + 1),
    "HingeEmbeddingLoss": lambda y, t: nn.HingeEmbeddingLoss()(y, _signs(2, 4)),
    "HuberLoss": lambda y, t: nn.HuberLoss()(y, t),
    "KLDivLoss": lambda y, t: nn.KLDivLoss(reduction="batchmean")(y.log_softmax(1), t),
    "L1Loss": lambda y, t: nn.L1Loss()(y, t),
    "LinearCrossEntropyLoss": lambda y, t: nn.LinearCrossEntropyLoss(4, 5)(y, t.argmax(1)),
    "MSELoss": lambda y, t: nn.MSELoss()(y, t),
    "MarginRankingLoss": lambda y, t: nn.MarginRankingLoss()(y[:, 0], y[:, 1], _signs(2)),
    "MultiLabelMarginLoss": lambda y, t: nn.MultiLabelMarginLoss()(y, t.argsort(1)),
    "MultiLabelSoftMarginLoss": lambda y, t: nn.MultiLabelSoftMarginLoss()(y, (t > 0.5).float()),
    "MultiMarginLoss": lambda y, t: nn.MultiMarginLoss()(y, t.argmax(1)),
    "NLLLoss": lambda y, t: nn.NLLLoss()(y.log_softmax(1), t.argmax(1)),
    "PoissonNLLLoss": lambda y, t: nn.PoissonNLLLoss()(y, t),
    "SmoothL1Loss": lambda y, t: nn.SmoothL1Loss()(y, t),
    "SoftMarginLoss": lambda y, t: nn.SoftMarginLoss()(y, _signs(2, 4)),
    "TripletMarginLoss": lambda y, t: nn.TripletMarginLoss()(y, t, -t),
    "TripletMarginWithDistanceLoss": lambda y, t: nn.TripletMarginWithDistanceLoss()(y, t, -t),
}


def _muon(p: Any) -> Any:
    """Of matrices alone; SGD where there are none."""
    parameters = list(p)
    matrices = [q for q in parameters if q.ndim == 2]
    return optim.Muon(matrices, lr=0.01) if matrices else optim.SGD(parameters, lr=0.01)


OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "ASGD": lambda p: optim.ASGD(p, lr=0.01, t0=2),
    "Adadelta": lambda p: optim.Adadelta(p, weight_decay=0.01),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.01, weight_decay=0.01, lr_decay=0.1),
    "Adam": lambda p: optim.Adam(p, lr=0.01, amsgrad=True),
    "Adafactor": lambda p: optim.Adafactor(p),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01),
    "Adamax": lambda p: optim.Adamax(p, lr=0.01),
    "LBFGS": lambda p: optim.LBFGS(p, lr=0.1, max_iter=3),
    "Muon": _muon,
    "NAdam": lambda p: optim.NAdam(p, lr=0.01, weight_decay=0.01),
    "RAdam": lambda p: optim.RAdam(p, lr=0.01),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, centered=True, momentum=0.9),
    "Rprop": lambda p: optim.Rprop(p, lr=0.01),
    "SGD": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
}

#: takes sparse gradients alone: tests/client/test_sparse_gradients.py
SPARSE = {"SparseAdam"}

#: their programs grow until their history is full
GROWS = {"LBFGS"}


def _by_norm(p: list[Any]) -> Any:
    total = nn.utils.get_total_norm([q.grad for q in p if q.grad is not None])
    return nn.utils.clip_grads_with_norm_(p, 0.1, total)


#: what stands between the pass and the optimizer's step
CLIPS: dict[str, Callable[[Any], Any]] = {
    "clip_grad_norm_": lambda p: nn.utils.clip_grad_norm_(p, 0.1),
    "clip_grads_with_norm_": lambda p: _by_norm(list(p)),
    "clip_grad_value_": lambda p: nn.utils.clip_grad_value_(p, 0.01),
}


def _has_momentum(optimizer: Any) -> bool:
    return not {"momentum", "betas"}.isdisjoint(optimizer.defaults)


SCHEDULES: dict[str, Callable[[Any], Any]] = {
    "ChainedScheduler": lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.ExponentialLR(o, 0.9), lr_scheduler.ConstantLR(o)], o
    ),
    "ConstantLR": lambda o: lr_scheduler.ConstantLR(o),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, 10),
    "CosineAnnealingWarmRestarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3),
    "CyclicLR": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 2, cycle_momentum=_has_momentum(o)),
    "ExponentialLR": lambda o: lr_scheduler.ExponentialLR(o, 0.9),
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, lambda n: 1 / (n + 1)),
    "LinearLR": lambda o: lr_scheduler.LinearLR(o),
    "MultiStepLR": lambda o: lr_scheduler.MultiStepLR(o, [2, 4]),
    "MultiplicativeLR": lambda o: lr_scheduler.MultiplicativeLR(o, lambda n: 0.9),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(o, 0.1, 10, cycle_momentum=_has_momentum(o)),
    "PolynomialLR": lambda o: lr_scheduler.PolynomialLR(o),
    "ReduceLROnPlateau": lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=1),
    "SequentialLR": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.ConstantLR(o), lr_scheduler.ExponentialLR(o, 0.9)], [3]
    ),
    "StepLR": lambda o: lr_scheduler.StepLR(o, 2),
}


@dataclass(frozen=True)
class Loop:
    """A loop by the names of its parts. `early`: the loss is read before its pass, not after the step.
    `kept`: gradients are set to zero, not to None.
    """

    layer: str = "Linear"
    loss: str = "MSELoss"
    optimizer: str = "SGD"
    clip: str = ""
    schedule: str = ""
    early: bool = False
    kept: bool = False

    def __str__(self) -> str:
        flags = ("early" * self.early, "kept" * self.kept)
        parts = (self.layer, self.loss, self.optimizer, self.clip, self.schedule, *flags)
        return "-".join(filter(None, parts))


@dataclass
class Ran:
    """What came of a loop: losses and final tensors to the bit, and of the batches from the third step on how
    many were planned and why the others were not.
    """

    losses: list[float] = field(default_factory=list)
    tensors: list[tuple[str, bytes]] = field(default_factory=list)
    planned: int = 0
    whys: set[str] = field(default_factory=set)


class Model(nn.Module):
    """A layer between a parameter and what a loss takes."""

    def __init__(self, name: str) -> None:
        super().__init__()
        if name in LOOKUPS:
            self.layer, self.inputs = LOOKUPS[name](), [gradd.randint(0, 10, (3, 2))]
        else:
            make, shapes = LAYERS[name]
            self.layer, self.inputs = make(), [gradd.randn(*shape) for shape in shapes]
        self.scale = nn.Parameter(gradd.ones(()))

    def forward(self) -> Any:
        floats = self.inputs[0].is_floating_point()
        y = self.layer(*[x * self.scale if floats else x for x in self.inputs])
        while isinstance(y, tuple):
            y = y[0]
        return _fold(y if floats else y * self.scale)


def steps_of(loop: Loop) -> tuple[Any, Callable[[], Any]]:
    """The loop's model, and a function that makes a step and returns its loss."""
    model = Model(loop.layer)
    target = gradd.rand(2, 4)
    optimizer = OPTIMIZERS[loop.optimizer](model.parameters())
    schedule = SCHEDULES[loop.schedule](optimizer) if loop.schedule else None
    criterion = LOSSES[loop.loss]

    def closure() -> Any:
        optimizer.zero_grad(set_to_none=not loop.kept)
        loss = criterion(model(), target)
        if loop.early:
            loss.item()
        loss.backward()
        if loop.clip:
            CLIPS[loop.clip](model.parameters())
        return loss

    def step() -> Any:
        if isinstance(optimizer, optim.LBFGS):
            loss = optimizer.step(closure)
        else:
            loss = closure()
            optimizer.step()
        if isinstance(schedule, lr_scheduler.ReduceLROnPlateau):
            schedule.step(loss.item())
        elif schedule is not None:
            schedule.step()
        return loss

    return model, step


def run(make: Callable[[], tuple[Any, Callable[[], Any]]], planned: bool = True) -> Ran:
    """Run a loop in a session of its own, reading the loss at each step."""
    ran = Ran()
    with gradd.connect("local:") as session:
        local._inline()._sessions[session.name].session.plans.enabled = planned
        gradd.manual_seed(1)
        model, step = make()
        ran.losses = [step().item() for _ in range(FIRST_PLANNED)]
        session.flush()
        with session.profile() as profile:
            ran.losses += [step().item() for _ in range(STEPS - FIRST_PLANNED)]
        ran.planned = profile.planned
        ran.whys = {re.sub(r"^step \d+", "a step", b.why) for b in profile.batches if b.how == "eager"}
        for name, t in [*model.named_parameters(), *model.named_buffers()]:
            ran.tensors.append((name, t.detach().numpy().tobytes()))
            if t.grad is not None:
                ran.tensors.append((f"{name}.grad", t.grad.numpy().tobytes()))
    return ran

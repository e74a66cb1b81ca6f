"""AdaptiveLogSoftmaxWithLoss: a softmax over many classes, of which rare ones share the head's last places.

Source: https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveLogSoftmaxWithLoss.html
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from gradd_engine.ops.reduce import BLANK, require

from .._surface import namespace
from . import functional as F
from .containers import ModuleList, Sequential
from .linear import Linear
from .module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor import Tensor

_TOP = namespace("")


class _ASMoutput(NamedTuple):
    """The log-probability of each target, and the mean of their negatives."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of `n_classes` that are sorted by frequency, in clusters that begin at `cutoffs`.

    The head decides among the classes before the first cutoff and the clusters; each cluster has fewer
    features by a further factor of `div_value`. All rows go through all clusters, so that no value has to be
    waited for: a batch takes the same steps whatever its targets.
    """

    head: Linear
    tail: ModuleList

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        ends = list(cutoffs)
        if not ends:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        whole = all(int(c) == c for c in ends)
        if ends != sorted(set(ends)) or ends[0] <= 0 or ends[-1] > n_classes - 1 or not whole:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                "where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*ends, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = ends[0], len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i, (begin, end) in enumerate(pairwise(self.cutoffs)):
            size = int(in_features // (div_value ** (i + 1)))
            first = Linear(in_features, size, bias=False, device=device, dtype=dtype)
            self.tail.append(
                Sequential(first, Linear(size, end - begin, bias=False, device=device, dtype=dtype))
            )

    def reset_parameters(self) -> None:
        """Draw initial values."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for part in cluster:
                part.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        """(N, in_features) and classes (N), or both without N, to `output` (N) and `loss`, a scalar.

        Targets that are no classes are a RuntimeError at the next read of a value.
        """
        _check(input_, target_)
        alone = target_.dim() == 0
        input: Any = input_.unsqueeze(0) if alone else input_
        target: Any = target_.unsqueeze(0) if alone else target_
        self._require_classes(target)
        head = F.log_softmax(self.head(input), 1)
        at = target
        output: Any = None
        for i, (begin, end) in enumerate(pairwise(self.cutoffs)):
            inside = (target >= begin) & (target < end)
            within = F.log_softmax(self.tail[i](input), 1)
            part = within.gather(1, (target - begin).clamp(0, end - begin - 1).unsqueeze(1)).squeeze(1)
            part = _TOP["where"](inside, part, 0.0)
            output = part if output is None else output + part
            at = _TOP["where"](inside, self.shortlist_size + i, at)
        output = output + head.gather(1, at.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if alone else output, loss)

    def _require_classes(self, target: Any) -> None:
        require(
            (target >= 0) & (target < self.n_classes),
            [target.min(), target.max()],
            f"Target values should be in [0, {self.n_classes - 1}], but values in range [{BLANK}, {BLANK}] "
            "were found. ",
            error="RuntimeError",
        )

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        """The log-probabilities of all classes, given what the head gives."""
        head = F.log_softmax(head_output, 1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            of = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(cluster(input), 1) + of)
        return _TOP["cat"](parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """(N, in_features) to the log-probabilities (N, n_classes)."""
        out: Tensor = self._get_full_log_prob(input, self.head(input))
        return out

    def predict(self, input: Tensor) -> Tensor:
        """(N, in_features) to the most probable classes (N): where the head prefers a class to all clusters,
        that class.
        """
        head = self.head(input)
        first = head.argmax(1)
        among_all = self._get_full_log_prob(input, head).argmax(1)
        out: Tensor = _TOP["where"](first >= self.shortlist_size, among_all, first)
        return out


def _check(input: Tensor, target: Tensor) -> None:
    """Raise PyTorch's RuntimeError unless there is a class for each row."""
    if target.dim() == 1:
        if input.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.dim() != 2:
            raise RuntimeError(
                f"1D target tensor expects 2D input tensors, but found inputs with size {input.shape}"
            )
    elif target.dim() == 0:
        if input.dim() != 1:
            raise RuntimeError(
                f"0D target tensor expects 1D input tensors, but found inputs with size {input.shape}"
            )
    else:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")

"""Docstrings of the face: what a function does, what comes out, what it refuses, and PyTorch's page of it."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from .facts import facts_of
from .forms import REGISTRY, op_of

if TYPE_CHECKING:
    from gradd_engine.op import Op

SITE = "https://pytorch.org/docs/stable"
#: names that PyTorch has without a page of their own
_UNLISTED = frozenset(
    """alpha_dropout as_strided_ detach detach_ dropout feature_alpha_dropout feature_dropout fill
    frobenius_norm gru gru_cell index_fill index_put instance_norm is_neg lstm lstm_cell masked_fill
    masked_scatter nuclear_norm put rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell rsub scalar_tensor
    split_with_sizes sum_to_size unsafe_split_with_sizes
    hardsigmoid_ hardswish_ mish_ relu6_ silu_ celu_ selu_""".split()
)
_UNLISTED_METHODS = frozenset(
    """celu_ clamp_max clamp_max_ clamp_min clamp_min_ elu_ hardtanh_ is_mkldnn is_nested layout leaky_relu_
    log_softmax lu new output_nr prelu relu relu_ rsub silu_ split_with_sizes threshold_
    unsafe_split_with_sizes volatile reinforce hardsigmoid_ hardswish_ mish_ is_same_size is_nonzero
    dtype""".split()
)
#: names at the top level whose page is nn.functional's
_FUNCTIONAL = frozenset(
    """adaptive_avg_pool1d avg_pool1d celu conv1d conv2d conv3d conv_transpose1d conv_transpose2d
    conv_transpose3d cosine_similarity hardshrink log_softmax pairwise_distance pdist prelu relu selu softmax
    threshold threshold_""".split()
)


def page(space: str, name: str) -> str | None:
    """The address of PyTorch's page of a public name, None where it has none."""
    if space == "special":
        return f"{SITE}/special.html#torch.special.{name}"
    if space == "Tensor":
        return None if name in _UNLISTED_METHODS else f"{SITE}/generated/torch.Tensor.{name}.html"
    if space == "" and name in _FUNCTIONAL:
        space = "nn.functional"
    elif space in ("", "nn.functional") and name in _UNLISTED and (space, name) != ("nn.functional", "dropout"):
        if space == "" or name.endswith("_") or name in ("instance_norm",):
            return None if name != "instance_norm" or space == "" else _generated(space, name)
    return _generated(space, name)


def _generated(space: str, name: str) -> str:
    return f"{SITE}/generated/{'.'.join(filter(None, ('torch', space, name)))}.html"


def op_behind(fn: Any, space: str, name: str) -> Op | None:
    """The declared op that a public name stands for, if there is one of its name."""
    inner = fn
    while getattr(inner, "__wrapped__", None) is not None:
        inner = inner.__wrapped__
    short = space.rpartition(".")[2]
    return op_of(inner) or REGISTRY.get(f"{short}_{name}") or REGISTRY.get(name)


def summary(fn: Any, space: str, name: str) -> str:
    """What a public function does, in a sentence or two."""
    said = " ".join((getattr(fn, "__doc__", None) or "").split())
    op = op_behind(fn, space, name)
    own = re.sub(r"^See torch[\w.]*[:;.]?\s*", "", said)
    if own != said or not said:
        # A page of PyTorch's and perhaps a remark: the op says what it is.
        what = " ".join(op.doc.split()) if op is not None else ""
        if what.startswith("In-place form"):
            what = f"In-place form of `{name.removesuffix('_')}`."
        parts = [what, own[:1].upper() + own[1:]] if own.strip(" .") else [what]
        said = " ".join(p for p in parts if p) or f"torch.{'.'.join(filter(None, (space, name)))}."
    return re.sub(r" ?\((?:torch|Tensor)\.[\w.]+\)", "", said)


def document(fn: Any, space: str, name: str, width: int) -> list[str]:
    """The docstring's lines: summary, results, refusals, page."""
    lines = textwrap.wrap(summary(fn, space, name), width)
    op = op_behind(fn, space, name)
    facts = [] if op is None else facts_of(op)
    address = page(space, name)
    body = [line for fact in facts for line in textwrap.wrap(fact, width, subsequent_indent="  ")]
    if body:
        lines += ["", *body]
    if address is not None:
        lines += ["", address]
    return lines

"""Docstrings of the face: what a function does, what comes out, what it refuses, and PyTorch's page of it."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from gradd_engine.declare import REGISTRY

from .facts import facts_of
from .forms import op_of

if TYPE_CHECKING:
    from gradd_engine.schema import Op

SITE = "https://pytorch.org/docs/stable"
#: names that PyTorch has without a page of their own, by namespace
_UNLISTED = {
    space: frozenset(names.split())
    for space, names in {
        "": """alpha_dropout as_strided_ celu_ clamp_max clamp_min detach detach_ dropout
            feature_alpha_dropout feature_dropout fill frobenius_norm gru gru_cell index_fill
            index_put instance_norm is_neg is_same_size is_signed lstm lstm_cell masked_fill
            masked_scatter nuclear_norm put rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell rsub
            scalar_tensor selu_ split_with_sizes sum_to_size typename unsafe_split_with_sizes
            get_device""",
        "nn.functional": "celu_ hardsigmoid_ hardswish_ mish_ relu6_ selu_ silu_",
        "Tensor": """celu_ clamp_max clamp_max_ clamp_min clamp_min_ dtype elu_ hardsigmoid_ hardswish_
            hardtanh_ is_mkldnn is_nested is_nonzero is_same_size layout leaky_relu_ log_softmax lu mish_ new
            prelu reinforce relu relu_ rsub silu_ split_with_sizes threshold_ unsafe_split_with_sizes
            volatile""",
    }.items()
}
#: names of the top level whose page is nn.functional's
_FUNCTIONAL = frozenset(
    """adaptive_avg_pool1d avg_pool1d celu conv1d conv2d conv3d conv_transpose1d conv_transpose2d
    conv_transpose3d cosine_similarity hardshrink log_softmax pairwise_distance pdist prelu relu selu
    threshold threshold_""".split()  # noqa: SIM905 - a list of words
)


def page(space: str, name: str) -> str | None:
    """The address of PyTorch's page of a public name, None where it has none."""
    if name in _UNLISTED.get(space, ()) or name.endswith("Tensor"):
        return None
    if space == "special":
        return f"{SITE}/special.html#torch.special.{name}"
    if space == "" and name in _FUNCTIONAL:
        space = "nn.functional"
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
    op = op_behind(fn, space, name)
    said = " ".join(((op.surface.doc if fn is op and op else getattr(fn, "__doc__", None)) or "").split())
    own = re.sub(r"^See torch[\w.]*[:;.]?\s*", "", said)
    if own != said or not said:
        # A page of PyTorch's and perhaps a remark: the op says what it is.
        what = " ".join(op.surface.doc.split()) if op is not None else ""
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

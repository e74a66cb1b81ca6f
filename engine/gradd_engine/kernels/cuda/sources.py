"""Which kernels the sources have, and for which types."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parent

#: a dtype's character, and the type that the sources call it; "E" is bfloat16
TYPES = {
    "f": "float", "d": "double", "e": "Half", "E": "BFloat", "q": "i64", "i": "int", "h": "short",
    "b": "signed char", "B": "u8",
}  # fmt: skip
#: what sources need beside `common.cuh`
NEEDS = {
    "activations": "elements.cuh", "conv_weights": "tiles.cuh", "convolutions": "tiles.cuh",
    "norms": "pack.cuh", "random": "elements.cuh", "scaling": "pack.cuh", "steps": "pack.cuh",
}  # fmt: skip
REALS = ("f", "d")
FLOATS = ("f", "d", "e", "E")
INTEGERS = ("q", "i", "B")
#: what is reduced and its results; 16 bits have parts of 32 in between
_SAME = tuple(f + f for f in FLOATS)
_PARTS = ("ef", "Ef", "fe", "fE")


class DeviceKernel(NamedTuple):
    """A kernel: where its source is, its name there, and what its template is made for."""

    source: str
    name: str
    #: characters of `TYPES`, one for each parameter of the template
    types: tuple[str, ...]

    def expression(self, types: str) -> str:
        """The kernel made for `types`, as C++ writes it."""
        return f"{self.name}<{', '.join(TYPES[t] for t in types)}>"


def _kernels(source: str, types: tuple[str, ...], names: str) -> dict[str, DeviceKernel]:
    return {name: DeviceKernel(source, name, types) for name in names.split()}


KERNELS = {
    **_kernels("norms", FLOATS, "layer_norm layer_norm_input layer_norm_columns column_sums"),
    **_kernels("norms", FLOATS, "square_sums root_of_sums chunk_squares roots_of_chunks"),
    **_kernels("random", FLOATS, "dropout_mask"),
    **_kernels("random", REALS, "uniform normal hits"),
    **_kernels("softmax", FLOATS, "softmax log_softmax softmax_backward log_softmax_backward"),
    **_kernels("losses", tuple(f + i for f in FLOATS for i in "qB"), "nll nll_backward"),
    **_kernels("activations", FLOATS, "relu sigmoid silu gelu_none gelu_tanh leaky_relu elu"),
    **_kernels("activations", FLOATS, "threshold_backward sigmoid_backward tanh_backward silu_backward"),
    **_kernels("activations", FLOATS, "gelu_backward_none gelu_backward_tanh"),
    **_kernels("scaling", FLOATS, "unscale"),
    **_kernels("scaling", ("f",), "adjust_scale"),
    **_kernels("steps", ("f",), "count_steps"),
    **_kernels("steps", ("ff", "dd", "ef", "Ef"), "sgd adam rmsprop"),
    **_kernels("channels", FLOATS, "batch_norm batch_norm_eval batch_norm_backward"),
    **_kernels("attention", ("fB", "ff", "dB", "dd"), "attend attend_query attend_key"),
    **_kernels("attention", REALS, "row_products"),
    **_kernels("indices", tuple(f + i for f in FLOATS for i in "qi"), "take_slices gather"),
    **_kernels("scattering", tuple(f + i for f in FLOATS for i in "qi"), "add_slices scatter"),
    **_kernels("joins", ("q", "i", "h", "B"), "join"),
    **_kernels("running", FLOATS, "cummax cummin logcumsumexp"),
    **_kernels("pooling", FLOATS, "max_pool max_pool_backward"),
    **_kernels("reductions", (*_SAME, *_PARTS, "qq"), "sums products"),
    **_kernels("reductions", (*_SAME, *_PARTS, "qq", "ii", "BB"), "largest smallest"),
    **_kernels("reductions", tuple(f + "q" for f in (*FLOATS, *INTEGERS)), "nonzeros"),
    **_kernels("reductions", tuple(f + "B" for f in (*FLOATS, *INTEGERS)), "anything everything"),
    **_kernels("reductions", (*FLOATS, *INTEGERS), "largest_at smallest_at"),
    **_kernels("channels", FLOATS, "group_norm group_norm_input group_norm_channels"),
    **_kernels("recurrent", REALS, "lstm_layer lstm_layer_back lstm_step lstm_step_back"),
    **_kernels("recurrent", REALS, "gru_layer gru_layer_back gru_step gru_step_back"),
    **_kernels("recurrent", REALS, "rnn_tanh_layer rnn_tanh_layer_back rnn_tanh_step rnn_tanh_step_back"),
    **_kernels("recurrent", REALS, "rnn_relu_layer rnn_relu_layer_back rnn_relu_step rnn_relu_step_back"),
    **_kernels("convolutions", FLOATS, "convolve convolve_few convolve_large convolve_each join_parts"),
    **_kernels("conv_weights", FLOATS, "convolve_weight convolve_weight_few convolve_weight_large"),
    **_kernels("conv_weights", FLOATS, "convolve_weight_each"),
    **_kernels("averages", FLOATS, "average average_backward"),
}


@cache
def text_of(*files: str) -> str:
    """Files after what all begin with; errors name their lines."""
    texts = ((f, (_HERE / f).read_text()) for f in ("common.cuh", *files))
    return "".join(f'#line 1 "{f}"\n{text}' for f, text in texts)


def source_of(name: str) -> str:
    """The text of a source, with all that it needs."""
    return text_of(*([NEEDS[name]] if name in NEEDS else []), f"{name}.cu")


def together(source: str, types: str) -> list[str]:
    """The expressions that are compiled at once: the kernels of a source for the same types."""
    return [k.expression(types) for k in KERNELS.values() if k.source == source and types in k.types]

"""Recurrent layers over sequences, and one step of each: RNN, LSTM, GRU, RNNCell, LSTMCell, GRUCell.

Source of shapes, names, checks and initial values: https://pytorch.org/docs/stable/nn.html#recurrent-layers
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from gradd_engine.declare import casting

from .._surface import namespace
from . import init
from ._make import empty, zeros
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence, numbers_of

if TYPE_CHECKING:
    from .._tensor import Tensor

_TOP = namespace("")
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """Base of recurrent layers: checks, and parameters ``weight_ih_l0``, ``weight_hh_l0``, ``bias_ih_l0`` ...

    Names in the reverse direction end in ``_reverse``. All are initially uniform in ±1/sqrt(hidden_size).
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_options(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.proj_size = float(dropout), bidirectional, proj_size
        self._all_weights: list[list[str]] = []
        gates, out = _GATES[mode] * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._ways]:
                above: tuple[int, ...] = (gates, out * self._ways if layer else input_size)
                sizes = {"weight_ih": above, "weight_hh": (gates, out)}
                if bias:
                    sizes.update(bias_ih=(gates,), bias_hh=(gates,))
                if proj_size:
                    sizes["weight_hr"] = (proj_size, hidden_size)
                for name, size in sizes.items():
                    setattr(self, f"{name}_l{layer}{suffix}", Parameter(empty(size, dtype)))
                self._all_weights.append([f"{name}_l{layer}{suffix}" for name in sizes])
        self.reset_parameters()

    @property
    def _ways(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters, one list per layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    def flatten_parameters(self) -> None:
        """Does nothing: the session manages the parameters' memory."""

    def reset_parameters(self) -> None:
        """Draw initial values."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input: Tensor, batch_sizes: Any) -> None:
        """ValueError or RuntimeError for a wrong dtype or size; `batch_sizes` are those of packed data."""
        dtype = self.all_weights[0][0].dtype
        if input.dtype != dtype and not casting().enabled:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert input: "
                f"input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        wanted = 3 if batch_sizes is None else 2
        if input.dim() != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.dim()}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, "
                f"got {input.shape[-1]}"
            )

    def _states_of(self, input: Tensor, batch_sizes: Any, size: int) -> tuple[int, int, int]:
        many = input.shape[0 if self.batch_first else 1] if batch_sizes is None else int(batch_sizes[0])
        return self.num_layers * self._ways, many, size

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Any) -> tuple[int, int, int]:
        """The size of the hidden state for an input: layers and directions, samples, features."""
        return self._states_of(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Any) -> None:
        """ValueError or RuntimeError where an input and a state do not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The state with its samples in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, ...], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """RuntimeError for a state of the wrong size."""
        if tuple(hx.shape) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def _state_sizes(self, input: Tensor, batch_sizes: Any) -> list[tuple[int, int, int]]:
        return [self.get_expected_hidden_size(input, batch_sizes)]

    def _ready_for(self, input: Any, states: list[Any] | None) -> tuple[Any, list[Any]]:
        """Input and states (default: zeros) with a batch dimension, checked."""
        if input.dim() not in (2, 3):
            tensor = " tensor" if self.mode.startswith("RNN") else ""
            raise ValueError(
                f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D{tensor} instead"
            )
        batched = input.dim() == 3
        if states and any(s.dim() != input.dim() for s in states):
            raise RuntimeError(self._wrong_rank("batched" if batched else "unbatched", input.dim(), states))
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
            states = states and [state.unsqueeze(1) for state in states]
        return input, self._checked(input, states, None)

    def _checked(self, input: Any, states: list[Any] | None, batch_sizes: list[int] | None) -> list[Any]:
        """The states (default: zeros); raises for sizes that do not fit."""
        if states is None:
            states = [zeros(size, input.dtype) for size in self._state_sizes(input, batch_sizes)]
        self.check_forward_args(input, states[0] if len(states) == 1 else tuple(states), batch_sizes)
        return states

    def _wrong_rank(self, batched: str, rank: int, states: list[Any]) -> str:
        if len(states) == 1:
            also, got = "hx should also be", f"{states[0].dim()}-D tensor"
        else:
            also, got = "hx and cx should also be", f"({', '.join(f'{s.dim()}-D' for s in states)}) tensors"
        return f"For {batched} {rank}-D input, {also} {rank}-D but got {got}"

    def _over(self, x: Any, states: list[Any], batch_sizes: list[int] | None = None) -> Any:
        return _TOP[self.mode.lower()](
            x,
            states if self.mode == "LSTM" else states[0],
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
            batch_sizes,
        )

    def _run_packed(self, packed: PackedSequence, states: list[Any] | None) -> tuple[Any, ...]:
        sizes = numbers_of(packed.batch_sizes)
        if states is not None:
            states = [RNNBase.permute_hidden(self, state, packed.sorted_indices) for state in states]
        out, *last = self._over(packed.data, self._checked(packed.data, states, sizes), sizes)
        last = [RNNBase.permute_hidden(self, state, packed.unsorted_indices) for state in last]
        return (packed.with_data(out), *last)

    def _run(self, input: Any, states: list[Any] | None) -> tuple[Any, ...]:
        if isinstance(input, PackedSequence):
            return self._run_packed(input, states)
        x, given = self._ready_for(input, states)
        out, *last = self._over(x, given)
        if x is not input:
            return (out.squeeze(0 if self.batch_first else 1), *(state.squeeze(1) for state in last))
        return (out, *last)

    def extra_repr(self) -> str:
        """Sizes and whatever differs from the defaults."""
        parts = [
            f"{self.input_size}, {self.hidden_size}",
            f"proj_size={self.proj_size}" if self.proj_size else "",
            f"num_layers={self.num_layers}" if self.num_layers != 1 else "",
            f"bias={self.bias}" if not self.bias else "",
            f"batch_first={self.batch_first}" if self.batch_first else "",
            f"dropout={self.dropout}" if self.dropout else "",
            f"bidirectional={self.bidirectional}" if self.bidirectional else "",
        ]
        return ", ".join(part for part in parts if part)


def _check_options(
    input_size: Any, hidden_size: Any, layers: int, bias: Any, batch_first: Any, dropout: Any, projected: int
) -> None:
    if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being "
            "zeroed"
        )
    if dropout > 0 and layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
            f"num_layers greater than 1, but got dropout={dropout} and num_layers={layers}",
            stacklevel=4,
        )
    for name, value in (("bias", bias), ("batch_first", batch_first)):
        if not isinstance(value, bool):
            raise TypeError(f"{name} should be of type bool, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(value, int):
            raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if projected < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if projected >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class _OneState(RNNBase):
    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Any, ...]:
        """(L, N, input_size) and (layers, N, hidden_size) to (L, N, hidden_size) and the last state.

        N is first in input and output with `batch_first`, and may be omitted; two directions double the
        states and outputs.
        """
        return self._run(input, None if hx is None else [hx])


def _no_projection(options: dict[str, Any]) -> None:
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(_OneState):
    """Elman's network: h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu by `nonlinearity`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _no_projection(kwargs)
        if len(args) > 3:
            args, kind = (*args[:3], *args[4:]), args[3]
        else:
            kind = kwargs.pop("nonlinearity", "tanh")
        if kind not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{kind}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{kind.upper()}", *args, **kwargs)
        self.nonlinearity = kind


class GRU(_OneState):
    """Gated recurrent units: a reset, an update and a new gate."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _no_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory: a cell state, and input, forget, cell and output gates."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _state_sizes(self, input: Tensor, batch_sizes: Any) -> list[tuple[int, int, int]]:
        sizes = self.get_expected_hidden_size, self.get_expected_cell_size
        return [size(input, batch_sizes) for size in sizes]

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Any) -> tuple[int, int, int]:
        """The size of the cell state for an input: layers and directions, samples, features."""
        return self._states_of(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Any) -> None:
        """ValueError or RuntimeError where an input and a pair of states do not fit."""
        self.check_input(input, batch_sizes)
        for i, (state, size) in enumerate(zip(hidden, self._state_sizes(input, batch_sizes), strict=True)):
            self.check_hidden_size(state, size, f"Expected hidden[{i}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The pair of states with their samples in another order."""
        return hx if permutation is None else tuple(state.index_select(1, permutation) for state in hx)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> Any:
        """(L, N, input_size) and two states (layers, N, hidden_size) to (L, N, hidden_size) and the last two.

        N is first in input and output with `batch_first`, and may be omitted; two directions double the
        states and outputs. With `proj_size`, outputs and hidden states have that size.
        """
        out, h, c = self._run(input, None if hx is None else list(hx))
        return out, (h, c)


class RNNCellBase(Module):
    """Base of the cells: ``weight_ih``, ``weight_hh``, ``bias_ih``, ``bias_hh``."""

    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((gates, input_size), dtype))
        self.weight_hh = Parameter(empty((gates, hidden_size), dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty((gates,), dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw initial values."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _step(self, op: str, input: Any, states: list[Any]) -> list[Any]:
        """The next states, from the given ones or from zeros."""
        name = self._get_name()
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for i, state in enumerate(states):
            if state is not None and state.dim() not in (1, 2):
                what = "hidden" if len(states) == 1 else f"hx[{i}]"
                raise ValueError(f"{name}: Expected {what} to be 1D or 2D, got {state.dim()}D instead")
        x = input if input.dim() == 2 else input.unsqueeze(0)
        none = zeros((x.shape[0], self.hidden_size), x.dtype) if None in states else None
        given = [none if s is None else s if x is input else s.unsqueeze(0) for s in states]
        hx = given[0] if len(given) == 1 else given
        found = _TOP[op](x, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        made = [found] if len(given) == 1 else list(found)
        return made if x is input else [state.squeeze(0) for state in made]

    def extra_repr(self) -> str:
        """Sizes and whatever differs from the defaults."""
        kind = self.__dict__.get("nonlinearity", "tanh")
        parts = [
            f"{self.input_size}, {self.hidden_size}",
            f"bias={self.bias}" if not self.bias else "",
            f"nonlinearity={kind}" if kind != "tanh" else "",
        ]
        return ", ".join(part for part in parts if part)


class RNNCell(RNNCellBase):
    """One step of RNN: (N, input_size) and (N, hidden_size) to (N, hidden_size)."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Any:
        """The next state; zeros are the first."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"rnn_{self.nonlinearity}_cell", input, [hx])[0]


class GRUCell(RNNCellBase):
    """One step of GRU: (N, input_size) and (N, hidden_size) to (N, hidden_size)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, dtype=dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Any:
        """The next state; zeros are the first."""
        return self._step("gru_cell", input, [hx])[0]


class LSTMCell(RNNCellBase):
    """One step of LSTM: (N, input_size) and a pair of (N, hidden_size) to the next pair."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, dtype=dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Any, ...]:
        """The next state and cell; by default from zeros."""
        return tuple(self._step("lstm_cell", input, [None, None] if hx is None else list(hx)))

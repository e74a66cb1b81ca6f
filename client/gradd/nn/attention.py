"""MultiheadAttention (torch.nn.MultiheadAttention), composed of recorded operations.

Source of shapes, checks and initial values:
https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
"""

from __future__ import annotations

import contextlib
import enum
from typing import TYPE_CHECKING, Any

from .._surface import namespace
from . import functional as F
from . import init
from ._make import empty
from .linear import Linear
from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._tensor import Tensor

_TOP = namespace("")


class SDPBackend(enum.IntEnum):
    """Kernels of scaled_dot_product_attention (torch.nn.attention.SDPBackend); the daemon chooses its own."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    __str__ = enum.Enum.__str__

    def __repr__(self) -> str:
        return f"<SDPBackend.{self.name}: {self.value}>"


@contextlib.contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[None]:
    """Has no effect (torch.nn.attention.sdpa_kernel): the daemon chooses a kernel. AssertionError for what is
    no backend.
    """
    assert isinstance(backends, (list, SDPBackend)), (
        "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
        f"{type(backends).__name__}"
    )
    yield


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, with the name that PyTorch prints for the output projection."""


class MultiheadAttention(Module):
    """Attention in `num_heads` parts of the features: softmax(q k^T / sqrt(head size) + mask) v, projected.

    Parameters: ``in_proj_weight`` (3 embed_dim, embed_dim), or three if `kdim` or `vdim` differ;
    ``in_proj_bias``; ``out_proj``; ``bias_k`` and ``bias_v`` with `add_bias_kv`.
    """

    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        sizes = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(empty((3 * embed_dim, embed_dim), dtype))
            for name in sizes:
                self.register_parameter(name, None)
        else:
            for name, size in sizes.items():
                self.register_parameter(name, Parameter(empty((embed_dim, size), dtype)))
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", Parameter(empty((3 * embed_dim,), dtype)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        for name in ("bias_k", "bias_v"):
            made = Parameter(empty((1, 1, embed_dim), dtype)) if add_bias_kv else None
            if made is None:
                self.__dict__[name] = None
            else:
                self.register_parameter(name, made)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name, p in list(self._parameters.items()):
            if p is not None and name.endswith("weight"):
                init.xavier_uniform_(p)
            elif p is not None and name in ("bias_k", "bias_v"):
                init.xavier_normal_(p)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """(L, N, E), (S, N, kdim), (S, N, vdim) to (L, N, E) and the weights (N, L, S), or None.

        N is first with `batch_first`, and may be omitted. `key_padding_mask` (N, S) hides keys where it is
        True, `attn_mask` (L, S) or (N heads, L, S) pairs; float masks are added to the scores. Weights are
        the mean over the heads, or (N, heads, L, S) without `average_attn_weights`.
        """
        turned = self.batch_first and query.dim() == 3
        q, k, v = (t.transpose(1, 0) for t in (query, key, value)) if turned else (query, key, value)
        out, weights = F.multi_head_attention_forward(
            q, k, v, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias,
            training=self.training, key_padding_mask=key_padding_mask, need_weights=need_weights,
            attn_mask=attn_mask, use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight, k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight, average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return out.transpose(1, 0) if turned else out, weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """One mask of both, (N, heads, L, L), and its kind, 2; or that of the keys, 1; or None and None."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        many, length, _ = query.shape
        if attn_mask.dim() == 3:
            merged: Any = attn_mask.view(many, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(many, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(many, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2

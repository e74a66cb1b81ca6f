"""MultiheadAttention (torch.nn.MultiheadAttention), composed of recorded operations.

Source of shapes, checks and initial values:
https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from gradd_engine.data import dtypes

from .._surface import namespace
from . import functional as F
from . import init
from ._make import empty, zeros
from .linear import Linear
from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from .._tensor import Tensor

_TOP = namespace("")


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, with the name that PyTorch prints for the output projection."""


def additive_mask(mask: Any, name: str, dtype: Any) -> Any:
    """A mask to add to the scores: -inf where a boolean one is True.

    AssertionError for integers.
    """
    if mask is None or mask.dtype.is_floating_point:
        return mask
    if mask.dtype is not dtypes.bool_:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return zeros(tuple(mask.shape), dtype).masked_fill(mask, -math.inf)


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
        batched = self._check_ranks(query, key, value, key_padding_mask, attn_mask)
        q, k, v = query, key, value
        if not batched:
            q, k, v = (t.unsqueeze(1) for t in (q, k, v))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif self.batch_first:
            q, k, v = (t.transpose(1, 0) for t in (q, k, v))
        if is_causal and attn_mask is None:
            raise RuntimeError(
                "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                "`generate_square_subsequent_mask` to create this mask."
            )
        kinds = {m.dtype for m in (attn_mask, key_padding_mask) if m is not None}
        if len(kinds) > 1:
            warnings.warn(
                "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both "
                "instead.",
                stacklevel=2,
            )
        rows, batch, _ = q.shape
        mask = self._pair_mask(attn_mask, (rows, k.shape[0]), batch, q.dtype)
        hidden = additive_mask(key_padding_mask, "key_padding_mask", q.dtype)
        self._check_sizes(q, k, v)
        q, k, v = self._projected(q, k, v)
        k, v = self._longer(k, v, batch)
        added = k.shape[0] - key.shape[1 if self.batch_first and batched else 0]
        q, k, v = (
            t.reshape(t.shape[0], batch * self.num_heads, self.head_dim).transpose(0, 1) for t in (q, k, v)
        )
        if added:
            mask = mask if mask is None else F.pad(mask, (0, added))
            hidden = hidden if hidden is None else F.pad(hidden, (0, added))
        columns = k.shape[1]
        if hidden is not None:
            if tuple(hidden.shape) != (batch, columns):
                raise AssertionError(
                    f"Expected key_padded_mask.shape[{int(hidden.shape[0] == batch)}] to be "
                    f"{columns if hidden.shape[0] == batch else batch}, but got "
                    f"{hidden.shape[int(hidden.shape[0] == batch)]}"
                )
            hidden = hidden.view(batch, 1, 1, columns).expand(-1, self.num_heads, -1, -1)
            hidden = hidden.reshape(batch * self.num_heads, 1, columns)
            mask = hidden if mask is None else mask + hidden
        found, weights = self._attended(q, k, v, mask, batch, need_weights)
        out = self.out_proj(found.reshape(rows * batch, self.embed_dim)).view(rows, batch, self.embed_dim)
        out = out.squeeze(1) if not batched else out.transpose(1, 0) if self.batch_first else out
        if weights is None:
            return out, None
        weights = weights.view(batch, self.num_heads, rows, columns)
        weights = weights.mean(dim=1) if average_attn_weights else weights
        return out, weights if batched else weights.squeeze(0)

    # -- its parts -----------------------------------------------------------------------------------

    def _check_ranks(self, query: Any, key: Any, value: Any, padding: Any, mask: Any) -> bool:
        rank = query.dim()
        if rank not in (2, 3):
            raise AssertionError(
                f"query should be unbatched 2D or batched 3D tensor but received {rank}-D query tensor"
            )
        kind = "batched" if rank == 3 else "unbatched"
        if key.dim() != rank or value.dim() != rank:
            raise AssertionError(
                f"For {kind} ({rank}-D) `query`, expected `key` and `value` to be {rank}-D but found "
                f"{key.dim()}-D and {value.dim()}-D tensors respectively"
            )
        if padding is not None and padding.dim() != rank - 1:
            raise AssertionError(
                f"For {kind} ({rank}-D) `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D "
                f"but found {padding.dim()}-D tensor instead"
            )
        if mask is not None and mask.dim() not in (2, 3):
            raise AssertionError(
                f"For {kind} ({rank}-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
                f"{mask.dim()}-D tensor instead"
            )
        return bool(rank == 3)

    def _check_sizes(self, q: Any, k: Any, v: Any) -> None:
        if q.shape[-1] != self.embed_dim:
            raise AssertionError(
                f"was expecting embedding dimension of {self.embed_dim}, but got {q.shape[-1]}"
            )
        if self._qkv_same_embed_dim and k.shape != v.shape:
            raise AssertionError(f"key shape {k.shape} does not match value shape {v.shape}")
        if k.shape[:2] != v.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {k.shape[:2]} do not match value's {v.shape[:2]}"
            )

    def _pair_mask(self, mask: Any, size: tuple[int, int], batch: int, dtype: Any) -> Any:
        if mask is None:
            return None
        wanted = size if mask.dim() == 2 else (batch * self.num_heads, *size)
        if tuple(mask.shape) != wanted:
            raise RuntimeError(
                f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {wanted}."
            )
        made = additive_mask(mask, "attn_mask", dtype)
        return made.unsqueeze(0) if made.dim() == 2 else made

    def _projected(self, q: Any, k: Any, v: Any) -> list[Any]:
        if self._qkv_same_embed_dim:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        return [F.linear(t, w, b) for t, w, b in zip((q, k, v), weights, biases, strict=True)]

    def _attended(self, q: Any, k: Any, v: Any, mask: Any, batch: int, need_weights: bool) -> tuple[Any, Any]:
        """The attended values and the weights; q, k and v are (N heads, L or S, head size)."""
        dropped = self.dropout if self.training else 0.0
        if not need_weights:
            if mask is not None:
                whole = mask.shape[0] == 1
                mask = mask.unsqueeze(0) if whole else mask.view(batch, self.num_heads, -1, k.shape[1])
            q, k, v = (t.view(batch, self.num_heads, t.shape[1], self.head_dim) for t in (q, k, v))
            return F.scaled_dot_product_attention(q, k, v, mask, dropped).permute(2, 0, 1, 3), None
        scores = _TOP["bmm"](q * math.sqrt(1.0 / self.head_dim), k.transpose(-2, -1))
        weights = F.softmax(scores if mask is None else scores + mask, dim=-1)
        if dropped:
            weights = F.dropout(weights, p=dropped)
        return _TOP["bmm"](weights, v).transpose(0, 1), weights

    def _longer(self, k: Any, v: Any, batch: int) -> tuple[Any, Any]:
        """Keys and values with the learnable ones and zeros appended, if configured."""
        if self.bias_k is not None and self.bias_v is not None:
            k = _TOP["cat"]([k, self.bias_k.repeat(1, batch, 1)])
            v = _TOP["cat"]([v, self.bias_v.repeat(1, batch, 1)])
        if self.add_zero_attn:
            none = zeros((1, batch, self.embed_dim), k.dtype)
            k, v = _TOP["cat"]([k, none]), _TOP["cat"]([v, none])
        return k, v

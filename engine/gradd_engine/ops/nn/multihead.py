"""Attention in several heads, with its projections, composed of recorded operations.

Source: https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
"""

from __future__ import annotations

import math
from typing import Any

from ...data import dtypes, warn
from ...declare import PUBLIC, public
from ...schema import REGISTRY, named


def _layer(name: str) -> Any:
    return PUBLIC.get(("nn.functional", name)) or REGISTRY[name].call


def _additive(mask: Any, name: str, dtype: Any) -> Any:
    """A mask to add to the scores: -inf where a boolean one is True. AssertionError for integers."""
    if mask is None or mask.dtype.is_floating_point:
        return mask
    if mask.dtype is not dtypes.bool_:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return mask.new_zeros(list(mask.shape), dtype=dtype).masked_fill(mask, -math.inf)


def _check_ranks(query: Any, key: Any, value: Any, padding: Any, mask: Any) -> bool:
    """Whether there is a batch."""
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


def _check_sizes(q: Any, k: Any, v: Any, width: int, heads: int, separate: bool) -> None:
    if q.shape[-1] != width:
        raise AssertionError(f"was expecting embedding dimension of {width}, but got {q.shape[-1]}")
    if width % heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")
    if separate and k.shape[:2] != v.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {k.shape[:2]} do not match value's {v.shape[:2]}"
        )
    if not separate and k.shape != v.shape:
        raise AssertionError(f"key shape {k.shape} does not match value shape {v.shape}")


def _pair_mask(mask: Any, size: tuple[int, int], parts: int, dtype: Any) -> Any:
    if mask is None:
        return None
    wanted = size if mask.dim() == 2 else (parts, *size)
    if tuple(mask.shape) != wanted:
        said = f"The shape of the {mask.dim()}D attn_mask is {mask.shape}"
        raise RuntimeError(f"{said}, but should be {wanted}.")
    made = _additive(mask, "attn_mask", dtype)
    return made.unsqueeze(0) if made.dim() == 2 else made


def _hidden(padding: Any, batch: int, heads: int, columns: int) -> Any:
    """What `key_padding_mask` adds to the scores of each head."""
    if tuple(padding.shape) != (batch, columns):
        wrong = int(padding.shape[0] == batch)
        raise AssertionError(
            f"Expected key_padded_mask.shape[{wrong}] to be {columns if wrong else batch}, but got "
            f"{padding.shape[wrong]}"
        )
    spread = padding.view(batch, 1, 1, columns).expand(-1, heads, -1, -1)
    return spread.reshape(batch * heads, 1, columns)


def _attended(q: Any, k: Any, v: Any, mask: Any, heads: int, dropped: float, weigh: bool) -> tuple[Any, Any]:
    """The attended values, (L, N heads, head size) or (L, N, heads, head size), and the weights.

    q, k and v are (N heads, L or S, head size).
    """
    parts, size = q.shape[0], q.shape[-1]
    if not weigh:
        if mask is not None:
            mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.view(-1, heads, *mask.shape[1:])
        q, k, v = (t.view(parts // heads, heads, t.shape[1], size) for t in (q, k, v))
        return _layer("scaled_dot_product_attention")(q, k, v, mask, dropped).permute(2, 0, 1, 3), None
    scores = named.bmm(q * math.sqrt(1.0 / size), k.transpose(-2, -1))
    weights = _layer("softmax")(scores if mask is None else scores + mask, -1)
    if dropped:
        weights = _layer("dropout")(weights, dropped)
    return named.bmm(weights, v).transpose(0, 1), weights


def _part(static: Any, name: str, parts: int, size: int) -> Any:
    if static.shape[0] != parts:
        raise AssertionError(f"expecting {name}.size(0) of {parts}, but got {static.shape[0]}")
    if static.shape[2] != size:
        raise AssertionError(f"expecting {name}.size(2) of {size}, but got {static.shape[2]}")
    return static


@public(
    "nn.functional",
    forms="(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, "
    "in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, "
    "bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor, "
    "out_proj_bias: Tensor | None, training: bool = True, key_padding_mask: Tensor | None = None, "
    "need_weights: bool = True, attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False, "
    "q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None, "
    "v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None, "
    "average_attn_weights: bool = True, is_causal: bool = False) -> tuple[Tensor, Tensor | None]",
)
def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Attention of (L, N, E) to (S, N, Ek) and (S, N, Ev) in `num_heads` parts of the features, projected
    before and after (torch.nn.functional.multi_head_attention_forward).

    Returns (L, N, E) and the weights (N, L, S), or None; N may be omitted. Raises AssertionError and
    RuntimeError for shapes that do not fit.
    """
    batched = _check_ranks(query, key, value, key_padding_mask, attn_mask)
    q, k, v = query, key, value
    if not batched:
        q, k, v = (t.unsqueeze(1) for t in (q, k, v))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if len({m.dtype for m in (attn_mask, key_padding_mask) if m is not None}) > 1:
        warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both "
            "instead."
        )
    rows, batch, width = q.shape[0], q.shape[1], embed_dim_to_check
    parts, size = batch * num_heads, width // num_heads
    padding = _additive(key_padding_mask, "key_padding_mask", q.dtype)
    _check_sizes(q, k, v, width, num_heads, use_separate_proj_weight)
    mask = _pair_mask(attn_mask, (rows, k.shape[0]), parts, q.dtype)
    weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = weights if use_separate_proj_weight else in_proj_weight.chunk(3)
    biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
    linear = _layer("linear")
    q, k, v = (linear(t, w, b) for t, w, b in zip((q, k, v), weights, biases, strict=True))
    if bias_k is not None and bias_v is not None:
        k, v = (named.cat([t, b.repeat(1, batch, 1)]) for t, b in ((k, bias_k), (v, bias_v)))
    q, k, v = (t.reshape(t.shape[0], parts, size).transpose(0, 1) for t in (q, k, v))
    k = k if static_k is None else _part(static_k, "static_k", parts, size)
    v = v if static_v is None else _part(static_v, "static_v", parts, size)
    if add_zero_attn:
        k, v = (named.cat([t, t.new_zeros([parts, 1, size])], 1) for t in (k, v))
    columns = k.shape[1]
    added = (bias_k is not None and bias_v is not None) + add_zero_attn
    if added:
        pad = _layer("pad")
        mask = mask if mask is None else pad(mask, (0, added))
        padding = padding if padding is None else pad(padding, (0, added))
    if padding is not None:
        padding = _hidden(padding, batch, num_heads, columns)
        mask = padding if mask is None else mask + padding
    dropped = dropout_p if training else 0.0
    found, weights = _attended(q, k, v, mask, num_heads, dropped, need_weights)
    out = linear(found.reshape(rows * batch, width), out_proj_weight, out_proj_bias)
    out = out.view(rows, batch, out.shape[1])
    out = out if batched else out.squeeze(1)
    if weights is None:
        return out, None
    weights = weights.view(batch, num_heads, rows, columns)
    weights = weights.mean(dim=1) if average_attn_weights else weights
    return out, weights if batched else weights.squeeze(0)

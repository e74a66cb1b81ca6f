"""Embedding: rows of a table by index.

Source: https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.graph import no_grad
from gradd_engine.ops.index.embedding import refuse_sparse

from . import functional as F
from . import init
from ._make import empty
from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from .._tensor import Tensor


class Embedding(Module):
    """Integers (*) to rows (*, embedding_dim) of the weight, which is initially normal.

    The row `padding_idx` is initially zero and gets no gradient.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        refuse_sparse(sparse)
        if max_norm is not None or scale_grad_by_freq:
            raise NotImplementedError("max_norm and scale_grad_by_freq are not yet supported by gradd")
        if padding_idx is not None:
            assert -num_embeddings <= padding_idx < num_embeddings, (
                "Padding_idx must be within num_embeddings"
            )
            padding_idx %= num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        if _weight is None:
            self.weight = Parameter(empty((num_embeddings, embedding_dim), dtype), requires_grad=not _freeze)
            self.reset_parameters()
        else:
            shape = [num_embeddings, embedding_dim]
            assert list(_weight.shape) == shape, (
                "Shape of weight does not match num_embeddings and embedding_dim"
            )
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draw initial values."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight.select(0, self.padding_idx).fill_(0)

    def forward(self, input: Tensor) -> Tensor:
        """(*) integers to (*, embedding_dim)."""
        out: Tensor = F.embedding(input, self.weight, self.padding_idx)
        return out

    def extra_repr(self) -> str:
        """Sizes and the padding row."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None
    ) -> Embedding:
        """An embedding with a given table (rows, embedding_dim)."""
        assert embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional"
        rows, columns = embeddings.shape
        return cls(rows, columns, padding_idx, _weight=embeddings, _freeze=freeze)

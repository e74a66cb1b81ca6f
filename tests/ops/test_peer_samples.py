"""`make peer`: a share of it here, with PyTorch's own samples; and that it sees a difference."""

from __future__ import annotations

from typing import Any

import gradd
import numpy as np
import pytest

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

#: each was different once, or is of a kind of its own
SOME = (
    "__rmul__", "abs", "bfloat16", "digamma", "diff", "gather", "gradient", "index_fill", "linalg.eigh",
    "linalg.eigvalsh", "max_pool2d_with_indices_backward", "nextafter", "nn.functional.adaptive_avg_pool1d",
    "nn.functional.avg_pool2d", "nn.functional.max_pool1d", "nn.functional.max_pool2d",
    "nn.functional.nll_loss", "nn.functional.scaled_dot_product_attention", "polygamma", "prod",
    "scatter_reduce", "searchsorted", "special.polygamma", "take_along_dim", "tensor_split",
    "triangular_solve", "unique", "where",
)  # fmt: skip


@pytest.fixture(scope="module")
def samples() -> Any:
    """The module, where torch and what its samples need are installed."""
    pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    pytest.importorskip("expecttest", reason="expecttest, which PyTorch's samples need, is not installed")
    from tests.ops import peer_samples

    return peer_samples


@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32", "bfloat16"])
def test_some_samples_agree(samples: Any, dtype: str) -> None:
    found: list[Any] = []
    with gradd.connect("local:"), np.errstate(all="ignore"):
        peers = list(samples.peers(SOME))
        for peer in peers:
            found += samples.failures(peer, [dtype], most=2, seed=8)
    assert found == []
    assert len(peers) >= len(SOME)


def test_a_wrong_derivative_is_seen(samples: Any) -> None:
    with gradd.connect("local:"):
        (peer,) = samples.peers(["sin"])
        wrong = samples.Peer(peer.info, lambda x: x.detach().sin() + x - x.detach())
        (found,) = samples.failures(wrong, ["float64"], most=1)
    assert found[1].startswith("backward: gradient 0")


def test_every_entry_left_out_has_its_reason(samples: Any) -> None:
    assert all(kind and why for kind, why in samples.KNOWN.values())

"""What the samples of several files are made with."""

from __future__ import annotations

from typing import Any

from tests.ops.table import PUBLIC, S, Sample, T, V

FLOATS = "float32 bfloat16 float16"
#: the running statistics of four channels
RUNNING: dict[str, Any] = {
    "running_mean": T(4, grad=False),
    "running_var": T(4, low=0.5, high=2.0, grad=False),
}


def unit(*kinks: float, high: float = 3.0) -> list[Sample]:
    """Samples of an activation: random points, large ones, none, and the kinks."""
    some = [S(T(2, 3)), S(T(6, low=-high, high=high)), S(T()), S(V([-40.0, 40.0])).dtypes("float32")]
    return [*some, S(V([*kinks, float("nan")])).kink().dtypes("float32")] if kinks else some


def in_place(name: str) -> Sample:
    """A sample of an activation in place, which is the oracle's with ``inplace=True``."""
    return (
        S(T(3, grad=False))
        .no_grad()
        .dtypes("float32 bfloat16")
        .torch(lambda torch, x: getattr(torch.nn.functional, name.rstrip("_"))(x, inplace=True))
    )


def reductions(*args: Any, **attrs: Any) -> list[Sample]:
    """A sample of a loss for each reduction."""
    return [S(*args, reduction=r, **attrs).dtypes(FLOATS) for r in ("mean", "sum", "none")]


def by_method(name: str) -> Any:
    """The call of a tensor's method, for `Sample.calls`."""
    return lambda x, *a, **k: getattr(x, name)(*a, **k)


def M(fn: Any, *args: Any, **attrs: Any) -> Sample:
    """A sample of ``fn(linalg, top, *args)``: both give functions by name, and are of the side that runs."""
    return (
        S(*args, **attrs)
        .calls(lambda *a, **k: fn(lambda n: PUBLIC["linalg", n], lambda n: PUBLIC["", n], *a, **k))
        .torch(
            lambda torch, *a, **k: fn(
                lambda n: getattr(torch.linalg, n), lambda n: getattr(torch, n), *a, **k
            )
        )
        .no_graph()
    )


def eye(A: Any, scale: float = 2.0) -> Any:
    """A matrix made well-conditioned: positive-definite and Hermitian."""
    wide = A @ A.mT.conj() if hasattr(A, "resolve_conj") else A @ A.mT.conj_physical()
    return wide + scale * (wide * 0 + 1).tril().triu()


def well(A: Any) -> Any:
    """A matrix with a dominant diagonal, so that differences are exact enough."""
    return A + (A * 0 + 4).tril().triu()

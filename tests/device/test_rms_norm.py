"""RMS norm, one op on a device, has the values and derivatives that its parts have on the host."""

from __future__ import annotations

from typing import Any

import gradd
import pytest
from gradd import func
from gradd.nn import functional

from tests import standin
from tests.cuda import host
from tests.standin.sessions import sessions_there


def _derivatives(weighted: bool, half: bool) -> list[Any]:
    gradd.manual_seed(0)
    x, t = gradd.randn(3, 2, 5), gradd.randn(3, 2, 5)
    w = gradd.rand(2, 5) + 0.5 if weighted else None
    if half:
        x, t = x.half(), t.half()

    def norm(x: Any, *w: Any) -> Any:
        return functional.rms_norm(x, (2, 5), *w, eps=0.1)

    given = [x, *([] if w is None else [w])]
    if half:
        return [norm(*given)]
    for g in given:
        g.requires_grad_()
    out = norm(*given)
    first = gradd.autograd.grad((out**3).sum(), given, create_graph=True)
    second = gradd.autograd.grad(sum((f**2).sum() for f in first), given)
    bare = [g.detach() for g in given]
    tangents = [t, *(gradd.ones_like(b) for b in bare[1:])]
    along = func.jvp(norm, tuple(bare), tuple(tangents))[1]
    several = func.vmap(lambda *a: norm(a[0], *a[1:]), in_dims=(0, *[None] * (len(bare) - 1)))
    mapped = [several(gradd.stack([bare[0], t]), *bare[1:])]
    if weighted:
        weights = func.vmap(lambda a, w: norm(a, w), in_dims=(None, 0))
        mapped.append(weights(bare[0], gradd.stack([bare[1], bare[1] * 2])))
    return [out.detach(), *first, *second, along, *mapped]


def _listed(weighted: bool, half: bool) -> list[Any]:
    return [x.detach().float().tolist() for x in _derivatives(weighted, half)]


@pytest.mark.parametrize(("weighted", "half"), [(True, False), (False, False), (True, True), (False, True)])
def test_it_is_the_same_on_a_device(weighted: bool, half: bool) -> None:
    with gradd.connect("local:"):
        want = _listed(weighted, half)
    with sessions_there(), gradd.connect("local:"):
        got = _listed(weighted, half)
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert gradd.tensor(g).allclose(gradd.tensor(w), rtol=2e-3 if half else 1e-4, atol=1e-4)


@pytest.mark.skipif(host.MISSING is not None, reason=str(host.MISSING))
def test_it_is_a_launch_and_its_gradients_two() -> None:
    with sessions_there(), gradd.connect("local:") as session:
        layer = gradd.nn.RMSNorm(5)
        x = gradd.randn(4, 5, requires_grad=True)
        session.flush()
        standin.reset()
        out = layer(x)
        session.flush()
        assert standin.LAUNCHES == {"layer_norm": 1}
        standin.reset()
        out.backward(gradd.ones_like(out))
        session.flush()
        assert standin.LAUNCHES["layer_norm_input"] == standin.LAUNCHES["layer_norm_columns"] == 1

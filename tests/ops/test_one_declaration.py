"""Adding an op is one declaration and one sample: all else follows from these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd_engine.batching.vmap import vmap
from gradd_engine.declare.declarators import REGISTRY, composite, elementwise, kernel, stateful, view
from gradd_engine.declare.surface import functions
from gradd_engine.ops.shared import conj
from gradd_engine.ops.shared.common import broadcast_float
from gradd_engine.ops.shared.constants import tensor
from gradd_engine.schema import named
from gradd_engine.tensor import Tensor
from gradd_protocol.program import Step
from gradd_runtime import catalog

from tests.docs.test_pages import blocks
from tests.ops import gradcheck
from tests.ops.table import S, T
from tests.runtime.peer import Peer

SAMPLE = S(T(2, 3))
VALUES = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, 2.0]])


@pytest.fixture(scope="module", autouse=True)
def cubed() -> Iterator[Any]:
    """The declaration."""
    yield elementwise(
        "cubed(Tensor input) -> Tensor",
        infer=broadcast_float,
        impl=lambda xp, a: a * a * a,
        vjp=lambda g, input: named.mul(g, named.mul(named.mul(input, input), 3.0)),
        method=True,
        inplace=True,
        doc="The third power.",
        raises=False,
    )
    _forget("cubed")


def _forget(op: str) -> None:
    for name in (op, f"{op}_"):
        del REGISTRY[name]
        delattr(Tensor, name)


def test_it_is_a_function_a_method_and_an_in_place_form() -> None:
    x = tensor(VALUES)
    want = (VALUES**3).tolist()
    assert functions()["", "cubed"](x).array.tolist() == want
    assert x.cubed().array.tolist() == want  # type: ignore[attr-defined]
    assert x.cubed_() is x  # type: ignore[attr-defined]
    assert x.array.tolist() == want


def test_it_is_in_the_catalogue() -> None:
    entry = catalog.ops()["cubed"]
    assert entry["signature"] == "cubed(Tensor input) -> Tensor"
    assert entry["doc"] == "The third power."
    assert entry["differentiable"]
    assert catalog.ops()["cubed_"]["in_place"]


def test_what_a_stub_says_is_in_its_signature() -> None:
    schema = REGISTRY["cubed"].schema
    assert [(p.name, p.kind) for p in schema.params] == [("input", "Tensor")]
    assert [(r.name, r.kind) for r in schema.returns] == [("", "Tensor")]
    assert REGISTRY["cubed_"].schema.params[0].written


def test_its_sample_drives_the_checks_of_both_modes_and_orders() -> None:
    with gradd.connect("local:"):
        for in_place in (False, True):
            assert list(gradcheck.failures(gradcheck.Case("cubed", 0, SAMPLE, None, in_place))) == []


def test_the_design_shows_one() -> None:
    program = blocks("docs/design.md", "python").replace("sin(Tensor", "sine(Tensor")
    words = {"mul": named.mul, "cos": named.cos, "conj": conj}
    exec(program, {"elementwise": elementwise, "broadcast_float": broadcast_float, **words})
    try:
        assert functions()["", "sine"](tensor(VALUES)).array.tolist() == np.sin(VALUES).tolist()
        with gradd.connect("local:"):
            for in_place in (False, True):
                assert list(gradcheck.failures(gradcheck.Case("sine", 0, SAMPLE, None, in_place))) == []
    finally:
        _forget("sine")


def test_vmap_runs_it_on_the_batch_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[int, ...]] = []
    op = REGISTRY["cubed"]
    impl = op.impl
    x = tensor(VALUES)
    op.caches.known.clear()
    monkeypatch.setattr(op, "impl", lambda xp, a: (found.append(a.shape), impl(xp, a))[1])
    x.backend.kernels.pop(op, None)
    try:
        out = vmap(functions()["", "cubed"])(x)
    finally:
        x.backend.kernels.pop(op, None)
    assert out.array.tolist() == (VALUES**3).tolist()
    assert found == [(2, 3)]


def test_a_program_with_it_is_planned() -> None:
    peer = Peer()
    peer.put("x", VALUES, requires_grad=True)
    for _ in range(4):
        assert peer.batch(Step("cubed", [0], {}), inputs=["x"]).problem is None
    assert peer.session.plans.counts["planned"] >= 1


def test_a_keyword_that_makes_no_sense_for_the_kind_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^odd: view\(\) has no keyword \['raises'\]$"):
        view("odd(Tensor(a) input) -> Tensor(a)", infer=broadcast_float, raises=False)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^odd: composite\(\) has no keyword \['vjp'\]$"):
        composite("odd(Tensor input) -> Tensor", lambda input: input, vjp=None)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^odd: stateful\(\) has no keyword \['infer'\]$"):
        stateful("odd(Tensor input) -> ()", lambda input: None, infer=broadcast_float)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^odd: kernel\(\) needs \['impl'\]$"):
        kernel("odd(Tensor input) -> Tensor", infer=broadcast_float)
    assert "odd" not in REGISTRY


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("odd(Tensor input)", "not a signature"),
        ("odd(Tensor input) -> Tenser", "odd: cannot read result 'Tenser'"),
        ("odd(Tensor input) -> (Tensor, Tensor b)", "odd: cannot read result 'Tensor'"),
        ("odd(Tensor input) -> Tensor(a)", "odd: no parameter has the memory"),
    ],
)
def test_a_signature_that_does_not_say_what_comes_out_is_refused(signature: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        composite(signature, lambda input: input)


def test_signatures_say_how_many_what_has_a_derivative_what_is_shared_and_written() -> None:
    assert REGISTRY["sort"].differentiable == (True, False)
    assert [r.name for r in REGISTRY["linalg_svd"].schema.returns] == ["U", "S", "Vh"]
    assert REGISTRY["unbind"].multi_view
    assert REGISTRY["unsafe_view"].unsafe
    assert not REGISTRY["view"].unsafe
    assert REGISTRY["native_batch_norm"].writes == ("running_mean", "running_var")
    assert REGISTRY["add_"].writes == ("input",)
    assert str(REGISTRY["max"].schema).endswith("-> Tensor|(Tensor values, const Tensor indices)")

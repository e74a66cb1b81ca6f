"""The checker of derivative rules sees rules that are wrong, of either mode and either order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gradd_engine import ops
from gradd_engine.check import testing
from gradd_engine.declare.declarators import ELEMENTWISE, REGISTRY, elementwise
from gradd_engine.ops.elementwise.arithmetic import add, mul
from gradd_engine.ops.shared.common import same

X = np.array([0.3, -0.7, 1.1])
assert ops.__all__


@pytest.fixture
def declare() -> Iterator[Any]:
    """`declare(vjp, jvp)`: an op that cubes, with those rules; undeclared when the test ends."""
    made: list[str] = []

    def cube(vjp: Any, jvp: Any = ELEMENTWISE) -> Any:
        name = f"testing_cube{len(made)}"
        made.append(name)
        return elementwise(
            f"{name}(Tensor input) -> Tensor",
            infer=same,
            impl=lambda xp, a: a**3,
            vjp=vjp,
            jvp=jvp,
            namespace="-",
        )

    yield cube
    for name in made:
        del REGISTRY[name]


def right(g: Any, input: Any) -> Any:
    return mul(g, mul(mul(input, input), 3.0))


def test_right_rules_pass(declare: Any) -> None:
    cube = declare(right)
    testing.check_rules(cube, [X])
    assert testing.directional(cube, [X], [np.ones(3)])[0] == pytest.approx(3 * X**2)


def test_a_wrong_gradient_is_caught(declare: Any) -> None:
    with pytest.raises(testing.Mismatch, match="vjp"):
        testing.check_vjp(declare(lambda g, input: mul(g, mul(input, input))), [X])


def test_a_wrong_tangent_is_caught(declare: Any) -> None:
    cube = declare(right, lambda input_t, input: mul(input_t, input))
    testing.check_vjp(cube, [X])
    with pytest.raises(testing.Mismatch, match="jvp"):
        testing.check_jvp(cube, [X])


def test_a_wrong_second_derivative_is_caught(declare: Any) -> None:
    """A rule whose value is right, and whose history is lost: first order passes, second does not."""
    cube = declare(lambda g, input: mul(g, mul(mul(input, input), 3.0).detach()))
    testing.check_vjp(cube, [X])
    with pytest.raises(testing.Mismatch):
        testing.check_second(cube, [X])


def test_complex_functions(declare: Any) -> None:
    z = np.array([0.3 + 1j, -0.7 + 0.2j])
    testing.check_rules(lambda a, b: mul(a, add(b, a)), [z, z[::-1].copy()])
    with pytest.raises(testing.Mismatch):
        testing.check_vjp(declare(right), [z])

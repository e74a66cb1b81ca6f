"""Random bits: known answers, and streams that nothing shifts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradd_engine.data import rng
from gradd_engine.data.dtypes import complex64, float16, float32, float64
from gradd_engine.data.rng import RandomStream
from gradd_engine.data.state import ambient
from gradd_engine.declare.declarators import REGISTRY
from gradd_engine.ops.shared.constants import full

REALS = (float32, float64, float16)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox_gives_the_known_answers(
    counter: tuple[int, ...], key: tuple[int, int], expected: str
) -> None:
    """The vectors of Salmon et al., Random123, philox4x32-10."""
    index, step = counter[1] << 32 | counter[0], counter[3] << 32 | counter[2]
    found = rng.bits((key[1] << 32 | key[0], step), 4, first=4 * index)
    assert " ".join(f"{int(v):08x}" for v in found) == expected


def test_an_element_depends_on_its_index_alone() -> None:
    whole = rng.bits((7, 3), 1000)
    for n in (1, 2, 3, 4, 5, 999):
        np.testing.assert_array_equal(rng.bits((7, 3), n), whole[:n])


def test_blocks_are_parts_of_the_whole() -> None:
    key, count = (7, 3), 1000
    for make in (
        lambda first, n: rng.bits(key, n, first=first),
        lambda first, n: rng.uniform(key, n, first=first),
        lambda first, n: rng.normal(key, n, True, first=first),
    ):
        whole = make(0, count)
        for first in (4, 64, 996):
            np.testing.assert_array_equal(make(first, count - first), whole[first:])


SIZE = [7, 19]


@pytest.mark.parametrize(
    ("name", "of", "attrs"),
    [
        *((name, None, {"size": SIZE, "dtype": d}) for name in ("rand", "randn") for d in REALS),
        *((name, None, {"size": SIZE, "dtype": complex64}) for name in ("rand", "randn")),
        *(("exponential", d, {"lambd": 0.7}) for d in REALS),
        ("bernoulli", float32, {}),
        ("bernoulli_number", float32, {"p": 0.3}),
        ("dropout_mask", float16, {"p": 0.3, "features": 0}),
        ("multinomial", float32, {"num_samples": 5, "replacement": False}),
        ("multinomial", float32, {"num_samples": 5, "replacement": True}),
        ("randint", None, {"low": -3, "high": 1 << 62, "size": SIZE, "dtype": None}),
        ("randperm", None, {"n": 133, "dtype": None}),
    ],
)
def test_random_ops_draw_alike_in_blocks(
    name: str, of: Any, attrs: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = () if of is None else (full(SIZE, 0.5, dtype=of),)

    def drawn() -> Any:
        with ambient(generator=RandomStream(5), grad=False):
            return REGISTRY[name].run(inputs, dict(attrs)).array

    whole = drawn()
    monkeypatch.setattr(rng, "BLOCK", 16)
    np.testing.assert_array_equal(drawn(), whole)


def test_steps_and_seeds_are_streams_of_their_own() -> None:
    seen = {tuple(rng.bits((seed, step), 4).tolist()) for seed in range(20) for step in range(20)}
    assert len(seen) == 400


def test_a_stream_is_the_same_on_every_machine() -> None:
    """Pinned: a change of any of these changes every user's results."""
    words = (0x6627E8D5, 0xE169C58D, 0xBC57AC4C)
    assert rng.uniform((0, 0), 3).tolist() == [(w >> 8) / 2**24 for w in words]
    assert rng.uniform((0, 0), 2, double=True).tolist() == [
        ((0x6627E8D5 >> 5) * 2**26 + (0xE169C58D >> 6)) / 2**53,
        ((0xBC57AC4C >> 5) * 2**26 + (0x9B00DBD8 >> 6)) / 2**53,
    ]


@pytest.mark.parametrize("double", [False, True])
def test_uniform_numbers_are_in_range_and_even(double: bool) -> None:
    u = rng.uniform((1, 0), 200_000, double)
    assert u.dtype == (np.float64 if double else np.float32)
    assert 0.0 <= float(u.min()) < 1e-4
    assert 1 - 1e-4 < float(u.max()) < 1.0
    counts, _ = np.histogram(u, 20, (0, 1))
    assert abs(counts - 10_000).max() < 500


@pytest.mark.parametrize("double", [False, True])
def test_normal_numbers_are_normal(double: bool) -> None:
    z = rng.normal((1, 0), 200_000, double).astype(np.float64)
    assert np.isfinite(z).all()
    assert abs(z.mean()) < 0.01
    assert abs(z.std() - 1) < 0.01
    assert abs((z**3).mean()) < 0.03
    assert abs((z**4).mean() - 3) < 0.1


def test_a_generator_counts_its_steps() -> None:
    g = rng.RandomStream(5)
    assert [g.next() for _ in range(3)] == [(5, 0), (5, 1), (5, 2)]
    assert (g.manual_seed(-1).seed, g.next()) == (2**64 - 1, (2**64 - 1, 0))

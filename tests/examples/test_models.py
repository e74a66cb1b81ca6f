"""A transformer and a convolutional network print under gradd what they print under PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd
import pytest

from tests.examples.models import main


@pytest.mark.oracle
@pytest.mark.parametrize("transport", ["local", "stream"])
def test_models_train_as_the_oracles_do(
    oracle: Callable[..., Any], transport: str, request: pytest.FixtureRequest
) -> None:
    url = "local:" if transport == "local" else request.getfixturevalue("daemon")
    with gradd.connect(url):
        found = main(gradd)
    assert found == oracle(main)


def test_a_session_far_away_says_what_one_here_says(daemon: str) -> None:
    with gradd.connect("local:"):
        here = main(gradd)
    with gradd.connect(daemon):
        assert main(gradd) == here

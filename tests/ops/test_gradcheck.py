"""`make gradcheck`: a few of its ops here, and that it fails where a derivative is wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.ops import gradcheck, table
from tests.ops.table import S, T

#: of each kind one: element-wise, linear, a view, an index, a mask, a choice, a fused kernel
SOME = (
    "mul", "atan2", "mm", "transpose", "take_along_dim", "index_put", "max", "cumprod", "softmax",
    "nn.functional.layer_norm",
)  # fmt: skip


def test_some_ops_pass_in_a_daemon(daemon: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gradcheck.main(["--url", daemon, *SOME]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert {line.split()[0].rstrip("_") for line in lines} == set(SOME)
    assert all(re.fullmatch(r"\S+ +passed +(\d+) of \1", line) for line in lines)
    assert re.fullmatch(r"passed in \d+ s, \d+ round trips", last)


def test_a_wrong_derivative_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(x: Any) -> Any:
        return x * x.detach()

    monkeypatch.setattr(table, "samples", lambda: {"wrong": [S(T(3)).calls(wrong)], "sin": [S(T(3))]})
    assert gradcheck.main(["--url", "local:"]) == 1
    text = capsys.readouterr().out
    assert "wrong, sample 0: GradcheckError: Jacobian mismatch for output 0" in text
    assert re.search(r"^wrong +FAILED +0 of 1$", text, re.MULTILINE)
    assert re.search(r"^sin +passed +1 of 1$", text, re.MULTILINE)
    assert text.splitlines()[-1].startswith("FAILED in")


def test_nothing_checked_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert gradcheck.main(["--url", "local:", "no_such_op"]) == 1

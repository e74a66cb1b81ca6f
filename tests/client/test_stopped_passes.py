"""What is known of graphs after the server stopped a pass."""

from __future__ import annotations

import warnings
from typing import Any

import gradd
import gradd as torch
import pytest
from gradd._program import Builder


class Nan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * float("nan")


@pytest.mark.parametrize("frees", [False, True])
def test_graphs_stand_where_no_step_follows_the_one_that_failed(frees: bool) -> None:
    with gradd.connect("local:") as session:
        wire, post = session.wire, session.wire.post

        def posted(sent: Any) -> None:
            post(sent)
            if frees and sent.built.steps:
                wire.dead.append(f"{wire.prefix}999999")
                session.send(Builder(), [])

        wire.post = posted  # type: ignore[method-assign]
        x = torch.tensor(3.0, requires_grad=True)
        out = Nan.apply(x).sum()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="returned nan"):
                out.backward(retain_graph=True)
        out.backward()
        assert x.grad.isnan().item()

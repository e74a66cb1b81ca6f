"""y = sum((x @ w - t)^2) and w.grad by the client that openapi-python-client generates."""

from __future__ import annotations

import json
import os

from gradd_client import AuthenticatedClient
from gradd_client.api.batches import post_batch
from gradd_client.api.sessions import delete_session, put_session
from gradd_client.api.tensors import put_tensor, run_backward
from gradd_client.models import (
    Backward,
    Batch,
    Dtype,
    InputMap,
    Problem422,
    Results,
    Step,
    StepAttrs,
    TensorJson,
    TensorValue,
)

client = AuthenticatedClient(base_url=os.environ["GRADD_URL"], token=os.environ["GRADD_API_KEY"])
session = "openapi-python-client"


def put(name: str, body: TensorJson) -> None:
    """Make a leaf."""
    assert put_tensor.sync_detailed(session, name, client=client, body=body).status_code == 201


def data(results: Results, name: str) -> object:
    """The data of a result."""
    value = results.results[name]
    assert isinstance(value, TensorValue)
    return value.data


put_session.sync_detailed(session, client=client)
put("x", TensorJson(data=[[0.1, 0.2], [0.3, -0.4], [1.5, 2.7]], dtype=Dtype.FLOAT32))
put("w", TensorJson(data=[[1.1], [-2.3]], dtype=Dtype.FLOAT32, requires_grad=True))
put("t", TensorJson(data=[[3.3], [0.7], [-1.9]], dtype=Dtype.FLOAT32))
batch = Batch(
    steps=[
        Step(op="matmul", inputs=["x", "w"], outputs=["%h"]),
        Step(op="sub", inputs=["%h", "t"], outputs=["%d"]),
        Step(op="pow", inputs=["%d", 2], outputs=["%q"]),
        Step(
            op="sum",
            inputs=InputMap.from_dict({"input": "%q"}),
            attrs=StepAttrs.from_dict({"dim": [0, 1]}),
            outputs=["y"],
        ),
        Step(op="backward", inputs=["y"]),
    ],
    fetch=["y", "w.grad"],
)
done = post_batch.sync(session, client=client, body=batch)
assert isinstance(done, Results), done
refused = run_backward.sync(session, "y", client=client, body=Backward(retain_graph=True))
assert isinstance(refused, Problem422), refused
delete_session.sync_detailed(session, client=client)
print(
    json.dumps(
        {
            "y": data(done, "y"),
            "grad": data(done, "w.grad"),
            "position": done.position,
            "because": refused.type_.value,
        }
    )
)

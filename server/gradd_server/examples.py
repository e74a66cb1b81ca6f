"""An example for each operation, in the order in which a new daemon can be asked them; a test asks them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradd_protocol.version import VERSION, WIRE

from gradd_server.media import DOT, FRAME, JSON, NPY, OCTETS, PROBLEM, SAFETENSORS, YAML


@dataclass(frozen=True, slots=True)
class Body:
    """A body: its media type, what it looks like, the name of its schema where it has one."""

    media_type: str
    example: Any = None
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A header or query parameter."""

    name: str
    place: str
    description: str
    example: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """What the routes do not say of an operation themselves."""

    tag: str
    responses: Mapping[int, tuple[Body, ...]]
    request: tuple[Body, ...] = ()
    request_required: bool = True
    parameters: tuple[Parameter, ...] = ()


PATH_PARAMETERS = {
    "name": "demo",
    "id": "w",
    "hook": "halve",
    "op": "matmul",
    "slug": "op-failed",
    "key": "1.1",
    "writer": "1",
    "seq": "1",
}
"""An example of each name that stands in a path."""

SESSION = {
    "name": "demo",
    "epoch": 1,
    "last_position": 0,
    "tensors": 0,
    "bytes": 0,
    "messages": 0,
    "batches": 0,
    "round_trips": 0,
    "steps": 0,
    "writers": 0,
}
MATMUL = {
    "name": "matmul",
    "signature": "matmul(Tensor input, Tensor other) -> Tensor",
    "doc": "Matrix product (torch.matmul).",
    "inputs": [
        {"name": "input", "kind": "Tensor", "optional": False},
        {"name": "other", "kind": "Tensor", "optional": False},
    ],
    "attrs": [],
    "differentiable": True,
    "in_place": False,
    "view": False,
    "random": False,
}
W = {"data": [[1.0], [2.0]], "dtype": "float32", "requires_grad": True}
W_INFO = {
    "id": "@0.1",
    "name": "w",
    "shape": [2, 1],
    "strides": [1, 1],
    "dtype": "float32",
    "requires_grad": True,
    "is_leaf": True,
    "version": 0,
    "has_grad": False,
}
W_VALUE = {"dtype": "float32", "shape": [2, 1], "data": [[1.0], [2.0]]}
SQUARES = {
    "steps": [
        {"op": "mul", "inputs": ["w", "w"], "outputs": ["%q"]},
        {"op": "sum", "inputs": ["%q"], "outputs": ["y"]},
    ],
    "fetch": ["y"],
}
SQUARED = {"seq": 1, "position": 2, "results": {"y": {"dtype": "float32", "shape": [], "data": 5.0}}}
ATTACHED = {"writer": 1, "epoch": 1, "window": 64, "session": {**SESSION, "writers": 1}}
PROFILE = {
    "planned": 0,
    "eager": 0,
    "hits": 0,
    "new_programs": 0,
    "misses": [],
    "bytes_in": 0,
    "bytes_out": 0,
    "seconds": 0.0,
    "waited": 0.0,
    "kernels": [],
    "batches": [],
}
GRAPH = {
    "root": 0,
    "nodes": [
        {
            "id": 0,
            "name": "torch::autograd::AccumulateGrad",
            "outputs": [{"nr": 0, "shape": [2, 1], "dtype": "float32"}],
            "saved": [],
            "freed": False,
            "leaf": {"tensor": "w", "shape": [2, 1], "dtype": "float32"},
        }
    ],
    "edges": [],
    "truncated": False,
    "max_nodes": 1000,
}
HALVE = {
    "tensor": "w",
    "steps": [{"op": "mul", "inputs": ["%g", 0.5], "outputs": ["%half"]}],
    "outputs": ["%half"],
}
HALVED = {"name": "halve", "kind": "tensor", "inputs": ["%g"], **HALVE, "runs": 0}
NOT_YET = {
    "type": "/problems/not-implemented",
    "title": "Not implemented",
    "status": 501,
    "detail": "snapshots are not there yet",
}

_READY = {200: (Body(JSON, {"status": "ready"}),)}
_SESSION = Body(JSON, SESSION, "SessionInfo")
_TENSOR = (Body(JSON, W_VALUE), Body(OCTETS), Body(NPY), Body(SAFETENSORS))
_ACCEPT = Parameter("Accept", "header", "the form to read the tensor in", "application/json")
_DTYPE = Parameter("Gradd-Dtype", "header", "NumPy's name of the dtype, with octets", "float32")
_SHAPE = Parameter("Gradd-Shape", "header", "sizes, with octets; empty for a number", "2,1")
_EPOCH = Parameter("Gradd-Epoch", "header", "the epoch that attaching returned", "1", True)
_ACK = Parameter("Gradd-Ack", "header", "with JSON: the highest batch whose reply was read", "0")
_MAX_NODES = Parameter("max_nodes", "query", "1 to 10000, 1000 unless said", "1000")
_VERBOSE = Parameter("verbose", "query", "say more", "")

OPERATIONS = {
    "GET /livez": Operation("daemon", {200: (Body(JSON, {"status": "live"}),)}),
    "GET /readyz": Operation("daemon", _READY, parameters=(_VERBOSE,)),
    "GET /health": Operation("daemon", _READY, parameters=(_VERBOSE,)),
    "GET /openapi.yaml": Operation("daemon", {200: (Body(YAML, "openapi: 3.1.0\n"),)}),
    "GET /v1": Operation(
        "daemon",
        {
            200: (
                Body(
                    JSON,
                    {
                        "name": "gradd",
                        "version": VERSION,
                        "wire": WIRE,
                        "extensions": ["json", "npy", "safetensors", "stream"],
                        "limits": {"json_bytes": 16777216},
                        "dtypes": ["float32", "float64"],
                    },
                ),
            )
        },
    ),
    "GET /v1/ops": Operation("ops", {200: (Body(JSON, {"ops": {"matmul": MATMUL}}),)}),
    "GET /v1/ops/{op}": Operation("ops", {200: (Body(JSON, MATMUL),)}),
    "GET /problems/{slug}": Operation(
        "daemon",
        {
            200: (
                Body(
                    JSON,
                    {
                        "type": "/problems/op-failed",
                        "title": "Step failed",
                        "status": 422,
                        "description": "A step failed while running.",
                    },
                ),
            )
        },
    ),
    "PUT /v1/sessions/{name}": Operation(
        "sessions",
        {201: (_SESSION,), 200: (_SESSION,)},
        request=(Body(JSON, {"device": "cpu"}),),
        request_required=False,
    ),
    "GET /v1/sessions": Operation(
        "sessions",
        {200: (Body(JSON, {"sessions": [SESSION]}),)},
        parameters=(
            Parameter("page_size", "query", "1 to 1000, 100 unless said", "100"),
            Parameter("page_token", "query", "the page before's next_page_token", "demo"),
        ),
    ),
    "GET /v1/sessions/{name}": Operation("sessions", {200: (_SESSION,)}),
    "POST /v1/sessions/{name}:attach": Operation(
        "sessions",
        {200: (Body(JSON, ATTACHED),)},
        request=(Body(JSON, {"client": "curl"}, "Attach"),),
        request_required=False,
    ),
    "PUT /v1/sessions/{name}/tensors/{id}": Operation(
        "tensors",
        {201: (), 200: ()},
        request=(Body(JSON, W), Body(OCTETS), Body(NPY), Body(SAFETENSORS)),
        parameters=(
            _DTYPE,
            _SHAPE,
            Parameter("Gradd-Requires-Grad", "header", "?1 or ?0, with all but JSON", "?1"),
        ),
    ),
    "GET /v1/sessions/{name}/tensors": Operation("tensors", {200: (Body(JSON, {"tensors": [W_INFO]}),)}),
    "GET /v1/sessions/{name}/tensors/{id}": Operation("tensors", {200: _TENSOR}, parameters=(_ACCEPT,)),
    "POST /v1/sessions/{name}/tensors:fetch": Operation(
        "tensors",
        {200: (Body(JSON, {"results": {"w": W_VALUE, "w.grad": None}}),)},
        request=(Body(JSON, {"names": ["w", "w.grad"]}),),
    ),
    "POST /v1/sessions/{name}/batches": Operation(
        "batches",
        {200: (Body(JSON, SQUARED), Body(FRAME))},
        request=(Body(JSON, SQUARES), Body(FRAME)),
        parameters=(Parameter("Idempotency-Key", "header", "any text; the same key runs once", "step-1"),),
    ),
    "POST /v1/sessions/{name}/tensors/{id}:backward": Operation(
        "tensors",
        {200: (Body(JSON, {"seq": 2, "position": 3, "results": {}}),)},
        request=(Body(JSON, {"gradient": "w", "retain_graph": True, "inputs": ["w"]}),),
        request_required=False,
    ),
    "PUT /v1/sessions/{name}/writers/{writer}/batches/{seq}": Operation(
        "batches",
        {200: (Body(FRAME),)},
        request=(Body(FRAME), Body(JSON, {"steps": []})),
        parameters=(_EPOCH, _ACK),
    ),
    "GET /v1/sessions/{name}/writers/{writer}/batches/{seq}": Operation("batches", {200: (Body(FRAME),)}),
    "GET /v1/sessions/{name}/tensors/{id}/graph": Operation(
        "tensors",
        {200: (Body(JSON, GRAPH), Body(DOT, "digraph gradients {\n}\n"))},
        parameters=(Parameter("Accept", "header", "JSON or DOT", "application/json"), _MAX_NODES),
    ),
    "PUT /v1/sessions/{name}/hooks/{hook}": Operation(
        "hooks", {201: (Body(JSON, HALVED),), 200: (Body(JSON, HALVED),)}, request=(Body(JSON, HALVE),)
    ),
    "GET /v1/sessions/{name}/hooks": Operation("hooks", {200: (Body(JSON, {"hooks": [HALVED]}),)}),
    "GET /v1/sessions/{name}/hooks/{hook}": Operation("hooks", {200: (Body(JSON, HALVED),)}),
    "DELETE /v1/sessions/{name}/hooks/{hook}": Operation("hooks", {204: ()}),
    "PUT /v1/sessions/{name}/uploads/{key}": Operation(
        "batches", {201: (), 200: ()}, request=(Body(OCTETS),), parameters=(_DTYPE, _SHAPE)
    ),
    "GET /v1/sessions/{name}/results/{key}": Operation("batches", {200: _TENSOR}, parameters=(_ACCEPT,)),
    "POST /v1/sessions/{name}:acquire": Operation(
        "sessions", {200: (Body(JSON, {**ATTACHED, "writer": 2, "epoch": 2}),)}
    ),
    "POST /v1/sessions/{name}:profile": Operation(
        "sessions", {200: (Body(JSON, PROFILE),)}, request=(Body(JSON, {"on": True}),)
    ),
    "GET /v1/sessions/{name}/snapshots": Operation("sessions", {501: (Body(PROBLEM, NOT_YET, "Problem"),)}),
    "POST /v1/sessions/{name}/snapshots": Operation("sessions", {501: (Body(PROBLEM, NOT_YET, "Problem"),)}),
    "DELETE /v1/sessions/{name}/tensors/{id}": Operation("tensors", {204: ()}),
    "DELETE /v1/sessions/{name}": Operation("sessions", {204: ()}),
}
"""`METHOD path` -> its examples."""

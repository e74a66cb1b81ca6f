"""Tensors: list, put, read, delete; read many; run backward; stage uploads; read pinned results."""

from __future__ import annotations

import asyncio
import math

import msgspec
from gradd_protocol import dtypes, frames, jsondata, names, strictjson
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import (
    BackwardJson,
    DeleteTensor,
    GetGraph,
    GetResult,
    GetSeries,
    GetTensor,
    GetTensors,
    ListTensors,
    PutJson,
    PutTensor,
    Stage,
    TensorInfo,
    TensorsReply,
)
from gradd_runtime.process import BULK_BYTES, Bulk
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gradd_server import formats
from gradd_server.bodies import expect, json_frame, json_text
from gradd_server.errors import Refused
from gradd_server.front import Front
from gradd_server.media import DOT, JSON, NPY, OCTETS, SAFETENSORS, choose
from gradd_server.open_session import OpenSession
from gradd_server.options import FetchOptions
from gradd_server.replies import (
    StreamedResponse,
    fitting,
    respond,
    respond_with_tensor,
    tensor_form,
    tensor_headers,
    told,
)
from gradd_server.routes import entry_of, front_of, load_of
from gradd_server.sessions import opened
from gradd_server.traffic import SMALL
from gradd_server.uploads import upload_frame

PIECE = BULK_BYTES - (64 << 10)
"""Bytes of a result that are requested from the session at a time.

Just too few for a memory file: filling, mapping and freeing one for each piece took twice as long.
"""


FETCH_BYTES = 1 << 20
"""More than the longest list of names takes."""

_fetch = msgspec.json.Decoder(FetchOptions)


def _addressed(request: Request) -> tuple[Front, OpenSession, str]:
    """The front, the session and the tensor that the path names. Raises Refused: 400, 404."""
    front = front_of(request)
    entry = entry_of(request)
    return front, entry, str(names.reference(request.path_params["id"]))


async def list_tensors(request: Request) -> Response:
    """List the session's tensors: name, shape, strides, dtype, requires_grad, is_leaf, version and more."""
    front = front_of(request)
    entry = entry_of(request)
    load_of(request).take(2 * LIMITS.json_bytes)  # about, with as many as there may be
    return respond(*await front.sessions.ask(entry, ListTensors()))


async def put_tensor(request: Request) -> Response:
    """Create a leaf and bind it to the name: 201 if the name is new, 200 if not. `x.grad` sets a gradient.

    Besides JSON and raw bytes a body may be `application/x-npy` or `application/vnd.safetensors`. JSON has
    `requires_grad`; for the other formats it is the header `Gradd-Requires-Grad: ?1`.
    """
    front, entry, name = _addressed(request)
    kind = expect(request, JSON, OCTETS, NPY, SAFETENSORS)
    frame: frames.Bytes | Bulk
    with entry.receiving() as room:
        if kind == JSON:
            frame = await json_frame(request, PutJson(name), front.settings.body_timeout)
        else:
            message = PutTensor(name, _flag(request, "gradd-requires-grad"))
            frame = await upload_frame(request, kind, message, front.settings.body_timeout, room)
        return respond(*opened(await front.sessions.submit(entry, frame)))


async def get_tensor(request: Request) -> Response:
    """Read a tensor by name or id (`@1.5`), or a gradient (`w.grad`), in a format of the Accept header."""
    front, entry, name = _addressed(request)
    reserved = 0
    while True:  # what is large is only described, until there is room for it
        reply, (array,) = await front.sessions.ask(entry, GetTensor(name, max(SMALL, reserved)))
        info = told(reply)
        if array.nbytes == _nbytes(info):
            return await respond_with_tensor(request, name, reply, [array])
        _check_form(request, info)
        load_of(request).take(_nbytes(info) - reserved)
        reserved = _nbytes(info)


def _nbytes(info: TensorInfo) -> int:
    return math.prod(info.shape) * dtypes.BY_NAME[info.dtype].itemsize


def _check_form(request: Request, info: TensorInfo) -> None:
    """Raise not-acceptable (406) for a tensor that JSON cannot hold, where JSON is asked for."""
    least = jsondata.least_text(info.dtype, math.prod(info.shape))
    if least > LIMITS.json_bytes and tensor_form(request, info.dtype) == JSON:
        raise jsondata.too_large()


async def delete_tensor(request: Request) -> Response:
    """Release a name; for `x.grad`, clear the gradient."""
    front, entry, name = _addressed(request)
    return respond(*await front.sessions.ask(entry, DeleteTensor(name)), created=204, done=204)


async def fetch_tensors(request: Request) -> Response:
    """Read many small tensors at once, as JSON. A gradient that is None is null."""
    front = front_of(request)
    entry = entry_of(request)
    text = await json_text(request, front.settings.body_timeout, FETCH_BYTES)
    load_of(request).take(LIMITS.json_bytes)
    wanted = [names.reference(name) for name in strictjson.decode(_fetch, text, jsondata.invalid_json).names]
    reply, values = await front.sessions.ask(entry, GetTensors([str(ref) for ref in wanted]))
    assert isinstance(reply, TensorsReply)
    left = iter(values)
    arrays = {
        str(ref): None if info is None else next(left) for ref, info in zip(wanted, reply.infos, strict=True)
    }
    return Response(await asyncio.to_thread(_as_json, arrays), media_type=JSON)


def _as_json(arrays: dict[str, frames.Array | None]) -> bytes:
    said = {name: array if array is None else jsondata.encode_data(array) for name, array in arrays.items()}
    return fitting(msgspec.json.encode({"results": said}))


async def run_backward(request: Request) -> Response:
    """Run backward from a tensor, with PyTorch's arguments: gradient, retain_graph, create_graph, inputs."""
    front, entry, name = _addressed(request)
    frame = await json_frame(request, BackwardJson(name), front.settings.body_timeout)
    return respond(*opened(await front.sessions.submit(entry, frame)))


async def get_graph(request: Request) -> Response:
    """Read the graph of a tensor: nodes, edges, saved tensors; as JSON, or as DOT (by Accept).

    `max_nodes` limits its size; `truncated` says whether there is more.
    """
    front, entry, name = _addressed(request)
    form = choose(request.headers.get("accept"), (JSON, DOT))
    if form is None:
        raise Refused("not-acceptable", "a graph has no such form", supported=[JSON, DOT])
    message = GetGraph(name, "dot" if form == DOT else "json", _max_nodes(request))
    _, (text,) = await front.sessions.ask(entry, message)
    return Response(text.tobytes(), headers={"vary": "accept"}, media_type=form)


async def get_series(request: Request) -> Response:
    """Read the curves that scripts logged in the session, with `session.log`.

    A curve has at most 2,048 points: of a longer one every second is left out, or every fourth, and so on.
    """
    front = front_of(request)
    _, (text,) = await front.sessions.ask(entry_of(request), GetSeries())
    return Response(text.tobytes(), media_type=JSON)


def _max_nodes(request: Request) -> int:
    text = request.query_params.get("max_nodes", "1000")
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= LIMITS.graph_nodes):
        raise Refused("bad-request", f"max_nodes is a number from 1 to {LIMITS.graph_nodes}")
    return int(text)


async def put_upload(request: Request) -> Response:
    """Stage a tensor's bytes under `writer.n` for a later batch."""
    front = front_of(request)
    entry = entry_of(request)
    expect(request, OCTETS)
    message = Stage(request.path_params["key"])
    with entry.receiving() as room:
        frame = await upload_frame(request, OCTETS, message, front.settings.body_timeout, room)
        reply = respond(*opened(await front.sessions.submit(entry, frame)))
    entry.notify_upload()
    return reply


async def get_result(request: Request) -> Response:
    """Read a result that was too large for its batch's reply, as it was at its step."""
    front = front_of(request)
    entry = entry_of(request)
    key = request.path_params["key"]

    async def piece(begin: int) -> memoryview:
        _, (octets,) = await front.sessions.ask(entry, GetResult(key, begin, PIECE))
        return octets.data

    info = told((await front.sessions.ask(entry, GetResult(key, 0, 0)))[0])
    kind = tensor_form(request, info.dtype)
    if kind == JSON:
        _check_form(request, info)
        load_of(request).take(_nbytes(info))
        return await respond_with_tensor(request, "result", *await front.sessions.ask(entry, GetResult(key)))
    load_of(request).take(2 * PIECE)
    return StreamedResponse(
        formats.head(kind, "result", info.dtype, info.shape),
        _nbytes(info),
        piece,
        media_type=kind,
        headers=tensor_headers(info),
    )


def _flag(request: Request, header: str) -> bool:
    text = request.headers.get(header, "?0")
    if text not in ("?0", "?1"):
        raise Refused("bad-request", f"{header} is ?1 or ?0")
    return text == "?1"


routes = [
    Route("/v1/sessions/{name}/tensors", list_tensors, methods=["GET"]),
    Route("/v1/sessions/{name}/tensors:fetch", fetch_tensors, methods=["POST"]),
    Route("/v1/sessions/{name}/tensors/{id}:backward", run_backward, methods=["POST"]),
    Route("/v1/sessions/{name}/tensors/{id}/graph", get_graph, methods=["GET"]),
    Route("/v1/sessions/{name}/series", get_series, methods=["GET"]),
    Route("/v1/sessions/{name}/tensors/{id}", put_tensor, methods=["PUT"]),
    Route("/v1/sessions/{name}/tensors/{id}", get_tensor, methods=["GET"]),
    Route("/v1/sessions/{name}/tensors/{id}", delete_tensor, methods=["DELETE"]),
    Route("/v1/sessions/{name}/uploads/{key}", put_upload, methods=["PUT"]),
    Route("/v1/sessions/{name}/results/{key}", get_result, methods=["GET"]),
]

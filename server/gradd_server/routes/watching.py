"""What there is to see of a session while it computes: what holds its memory, how its batches run."""

from __future__ import annotations

import msgspec
from gradd_protocol import strictjson
from gradd_protocol.jsondata import invalid_json
from gradd_protocol.messages import Activity, GetActivity, GetMemory, Measure, Profiled
from gradd_protocol.profiles import FrontTime
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gradd_server.bodies import OPTIONS_BYTES, json_text
from gradd_server.media import JSON
from gradd_server.open_session import OpenSession
from gradd_server.options import MeasureOptions
from gradd_server.replies import respond
from gradd_server.routes import entry_of, front_of

_options = msgspec.json.Decoder(MeasureOptions)


async def get_memory(request: Request) -> Response:
    """Read what holds the session's memory: its largest blocks, who has each, and how it came to be so.

    `whole` is the course of all batches since the session's engine process has it, every so many of them;
    `watched` has layers, too: those that were looked at since somebody asked, and 10 s from now on.
    """
    front = front_of(request)
    _, (text,) = await front.sessions.ask(entry_of(request), GetMemory())
    return Response(text.tobytes(), media_type=JSON)


async def get_activity(request: Request) -> Response:
    """Read how many batches were planned, why the others were not, and the latest that were measured.

    `profile` is as with `:profile`, of at most 200 batches and 4,096 calls of kernels: what `:measure` asked
    for, or what somebody profiles now. Neither ends by it.
    """
    front, entry = front_of(request), entry_of(request)
    reply, buffers = await front.sessions.ask(entry, GetActivity())
    if not isinstance(reply, Activity):
        raise TypeError(f"a session answered {type(reply).__name__} to get-activity")
    profile = msgspec.structs.replace(reply.profile, front=_passed(entry, reply.profile))
    return respond(msgspec.structs.replace(reply, profile=profile), buffers)


def _passed(entry: OpenSession, profile: Profiled) -> list[FrontTime]:
    """When the batches of the profile passed the front."""
    told = {(batch.writer, batch.seq) for batch in profile.batches}
    times = () if entry.passages is None else entry.passages.times
    return [time for time in times if (time.writer, time.seq) in told]


async def measure(request: Request) -> Response:
    """Measure the next `batches`, up to 200; an empty body means 20. `activity` has what was measured.

    It ends by itself, and does nothing while somebody profiles the session. Measured batches take longer.
    """
    front, entry = front_of(request), entry_of(request)
    text = await json_text(request, front.settings.body_timeout, OPTIONS_BYTES)
    options = strictjson.decode(_options, text, invalid_json) if text else MeasureOptions()
    reply, buffers = await front.sessions.ask(entry, Measure(options.batches))
    entry.measure()
    return respond(reply, buffers, done=204)


routes = [
    Route("/v1/sessions/{name}/memory", get_memory, methods=["GET"]),
    Route("/v1/sessions/{name}/activity", get_activity, methods=["GET"]),
    Route("/v1/sessions/{name}:measure", measure, methods=["POST"]),
]

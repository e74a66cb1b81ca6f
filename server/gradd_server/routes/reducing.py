"""Sums and means of tensors over sessions."""

from __future__ import annotations

import msgspec
from gradd_protocol import names, strictjson
from gradd_protocol.jsondata import invalid_json
from gradd_protocol.messages import TensorInfo
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gradd_server.answers import Reduced, ReducedTensor
from gradd_server.bodies import json_text
from gradd_server.errors import Refused
from gradd_server.options import ReduceMember, ReduceOptions
from gradd_server.reducing import MemberPlace, reduce
from gradd_server.replies import json_response
from gradd_server.routes import front_of, key_of, load_of
from gradd_server.sessions import Sessions

BODY_BYTES = 1 << 20
"""More than the names of a large model's tensors take."""

_options = msgspec.json.Decoder(ReduceOptions)


async def reduce_tensors(request: Request) -> Response:
    """Add tensors of several sessions, or take their mean, and stage the results as uploads of sessions.

    The first tensors of all members that give any are added in the order of the members, then the second
    ones, and so on, in their dtype, floats of 16 bits in float32. Each result is staged under the keys at its
    place. A tensor is as it is in its session's turn: whoever wants it as of a batch reads that one's reply
    first. Where the answer was lost, or not all sessions had room, the same request replaces what was staged.
    """
    sessions = front_of(request).sessions
    text = await json_text(request, front_of(request).settings.body_timeout, BODY_BYTES)
    said = strictjson.decode(_options, text, invalid_json)
    tenant, load = key_of(request).tenant, load_of(request)
    load.give(load.nbytes)  # the body is read, and one request alone is let through whatever it holds
    givers = _places(sessions, tenant, said.members, [_references(member) for member in said.members])
    takers = _places(sessions, tenant, said.members, [member.uploads for member in said.members])
    if not (givers and takers) or len(givers) != len(takers):
        raise Refused("invalid-data", "some member has to give as many tensors as some get uploads")
    found: list[TensorInfo] = []
    for given, taken in zip(givers, takers, strict=True):
        found.append(await reduce(sessions, given, taken, said.op == "mean", load))
    return json_response(Reduced([ReducedTensor(info.dtype, info.shape) for info in found]))


def _references(member: ReduceMember) -> list[str]:
    """The names of its tensors. Raises invalid-name (400)."""
    return [str(names.reference(name)) for name in member.tensors]


def _places(
    sessions: Sessions, tenant: str, members: list[ReduceMember], lists: list[list[str]]
) -> list[list[MemberPlace]]:
    """For each result what the members have in their lists. Raises Refused: 400, 404; 422 where lists that
    are not empty are of several lengths.
    """
    some = [
        (sessions.find(tenant, member.session), listed)
        for member, listed in zip(members, lists, strict=True)
        if listed
    ]
    lengths = {len(listed) for _, listed in some}
    if len(lengths) > 1:
        raise Refused("invalid-data", f"the members' lists have {sorted(lengths)} entries, not as many each")
    return [
        [MemberPlace(entry, listed[at]) for entry, listed in some] for at in range(max(lengths, default=0))
    ]


routes = [Route("/v1/sessions:reduce", reduce_tensors, methods=["POST"])]

"""`gradd nodes`: the nodes of a cluster, and `drain`, `resume` and `move`."""

from __future__ import annotations

import argparse
import json
import os
import urllib.parse
from typing import Any

from gradd_server.commands.asking import add_daemon, ask, daemon_url, get, request
from gradd_server.commands.exits import OK, Unavailable

MOVING_SECONDS = 3600.0
"""Longest wait for a node's sessions to move."""


def add(commands: Any) -> None:
    """Add it to the commands of a parser."""
    nodes = commands.add_parser("nodes", help="list the nodes of a cluster; drain them, or move a session")
    add_daemon(nodes)
    nodes.add_argument("--json", action="store_true", help="one JSON object a line")
    nodes.set_defaults(run=_nodes)
    actions = nodes.add_subparsers(metavar="ACTION")
    for name, help in (
        ("drain", "give a node no more sessions and move those that it has, as before it is stopped"),
        ("resume", "let a node have sessions again"),
    ):
        action = actions.add_parser(name, help=help)
        add_daemon(action, nodes)
        action.add_argument("node", metavar="NODE", help="the id of the node, or how it begins")
        action.set_defaults(run=_drain if name == "drain" else _resume)
    move = actions.add_parser("move", help="move a session to another node")
    add_daemon(move, nodes)
    move.add_argument("session", metavar="SESSION", help="name of the session")
    move.add_argument("node", metavar="NODE", nargs="?", help="the id of the node, or how it begins")
    move.set_defaults(run=_move)


def _nodes(arguments: argparse.Namespace) -> int:
    for node in get(daemon_url(arguments, os.environ), "/v1/nodes", arguments.timeout)["nodes"]:
        if arguments.json:
            print(json.dumps(node))
        else:
            line = "{node}\t{machine}\t{device}\tprocess {pid}\t{sessions} sessions".format(**node)
            if not node["up"]:
                line += "\tdoes not answer" if node["pid"] else "\tis not there"
            print(line + ("\tdrained" if node["drained"] else ""))
    return OK


def _drain(arguments: argparse.Namespace) -> int:
    url = daemon_url(arguments, os.environ)
    node = _whole(url, arguments)
    answer = request(url, "POST", f"/v1/nodes/{node}:drain", MOVING_SECONDS, b"")
    if answer.status != 200:
        raise Unavailable(answer.refusal(url))
    said = json.loads(answer.body)
    print("{moved} sessions moved, {left} are left".format(**said))
    return OK


def _resume(arguments: argparse.Namespace) -> int:
    url = daemon_url(arguments, os.environ)
    ask(url, "POST", f"/v1/nodes/{_whole(url, arguments)}:resume", 204, arguments.timeout)
    return OK


def _move(arguments: argparse.Namespace) -> int:
    url = daemon_url(arguments, os.environ)
    body = {} if arguments.node is None else {"node": _whole(url, arguments)}
    path = f"/v1/sessions/{urllib.parse.quote(arguments.session, safe='')}:move"
    answer = request(url, "POST", path, MOVING_SECONDS, json.dumps(body).encode())
    if answer.status != 200:
        raise Unavailable(answer.refusal(url))
    print(json.loads(answer.body)["node"])
    return OK


def _whole(url: str, arguments: argparse.Namespace) -> str:
    """The id of the one node that begins like that."""
    nodes: set[str] = {node["node"] for node in get(url, "/v1/nodes", arguments.timeout)["nodes"]}
    found = [node for node in sorted(nodes) if node.startswith(arguments.node)]
    if len(found) != 1:
        raise Unavailable(f"{len(found)} nodes begin with {arguments.node!r}: gradd nodes")
    return found[0]

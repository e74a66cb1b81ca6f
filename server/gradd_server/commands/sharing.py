"""`gradd share`: a link to the dashboard that shows one session and changes nothing; list and revoke them."""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.parse
from datetime import UTC, datetime
from typing import Any

from gradd_server.commands.asking import add_daemon, ask, daemon_url, get, request
from gradd_server.commands.exits import OK, Unavailable


def add(commands: Any) -> None:
    """Add it to the commands of a parser."""
    share = commands.add_parser(
        "share", help="print a link that shows a session to who has it, and lets nobody change it"
    )
    add_daemon(share)
    share.add_argument("session", metavar="SESSION", help="name of the session")
    share.add_argument(
        "--hours", type=int, metavar="N", help="how long the link works [default: 168, a week]"
    )
    others = share.add_mutually_exclusive_group()
    others.add_argument("--list", action="store_true", help="list the session's shares instead")
    others.add_argument(
        "--revoke", action="append", metavar="ID", help="end a share instead; may be given several times"
    )
    share.set_defaults(run=_share)


def _share(arguments: argparse.Namespace) -> int:
    url = daemon_url(arguments, os.environ)
    path = f"/v1/sessions/{urllib.parse.quote(arguments.session, safe='')}/shares"
    if arguments.list:
        for share in get(url, path, arguments.timeout)["shares"]:
            print(f"{share['id']}\t{_moment(share['created'])}\t{_moment(share['expires'])}")
        return OK
    if arguments.revoke:
        for id in arguments.revoke:
            ask(url, "DELETE", f"{path}/{urllib.parse.quote(id, safe='')}", 204, arguments.timeout)
        return OK
    options = {} if arguments.hours is None else {"hours": arguments.hours}
    answer = request(url, "POST", path, arguments.timeout, json.dumps(options).encode())
    if answer.status != 201:
        raise Unavailable(answer.refusal(url))
    made = json.loads(answer.body)
    print(
        f"{made['id']}: reads session {arguments.session} until {_moment(made['expires'])}. This is the only "
        "time that the link is shown.",
        file=sys.stderr,
    )
    print(f"{url.rstrip('/')}/#key={made['token']}")
    return OK


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

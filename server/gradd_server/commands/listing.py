"""`gradd health` and `gradd sessions`."""

from __future__ import annotations

import argparse
import json
import os
import time
import urllib.parse
from typing import Any

from gradd_server.commands.asking import add_daemon, ask, daemon_url, get
from gradd_server.commands.exits import OK, Unavailable

PAUSE = 0.1
"""Seconds between two looks of `gradd health --wait`."""


def add(commands: Any) -> None:
    """Add both to the commands of a parser."""
    health = commands.add_parser("health", help="ask a daemon whether it is ready: 0 if so, else 69")
    add_daemon(health)
    health.add_argument(
        "--wait", type=float, default=0.0, metavar="S", help="ask again for so many seconds [default: 0]"
    )
    health.set_defaults(run=_health)

    sessions = commands.add_parser("sessions", help="list the sessions of a daemon, or delete some")
    add_daemon(sessions)
    sessions.add_argument("--json", action="store_true", help="one JSON object a line")
    sessions.add_argument("--tenant", metavar="T", help="those of another tenant; for operators")
    sessions.set_defaults(run=_sessions)
    delete = sessions.add_subparsers(metavar="ACTION").add_parser(
        "delete", help="end sessions with all they hold, lost ones too"
    )
    add_daemon(delete, sessions)
    delete.add_argument("names", nargs="+", metavar="NAME", help="name of a session")
    delete.set_defaults(run=_delete)


def _health(arguments: argparse.Namespace) -> int:
    end = time.monotonic() + arguments.wait
    while True:
        try:
            # Where it listens is known once it does.
            get(daemon_url(arguments, os.environ), "/readyz", arguments.timeout)
        except Unavailable:
            if time.monotonic() >= end:
                raise
            time.sleep(PAUSE)
        else:
            print("ready")
            return OK


def _sessions(arguments: argparse.Namespace) -> int:
    url = daemon_url(arguments, os.environ)
    asked = {"tenant": arguments.tenant} if arguments.tenant else {}
    while True:
        page = get(url, "/v1/sessions?" + urllib.parse.urlencode(asked), arguments.timeout)
        for session in page["sessions"]:
            if arguments.json:
                print(json.dumps(session))
            elif session.get("lost"):
                print("{name}\tlost with its engine process".format(**session))
            elif session.get("away"):
                print("{name}\t{away}".format(**session))
            else:
                line = "{name}\t{tensors} tensors\t{bytes} bytes\t{batches} batches".format(**session)
                line += f"\ton node {session['node'][:8]}" if "node" in session else ""
                print(line + ("\tasleep" if session["asleep"] else ""))
        asked["page_token"] = page.get("next_page_token", "")
        if not asked["page_token"]:
            return OK


def _delete(arguments: argparse.Namespace) -> int:
    url = daemon_url(arguments, os.environ)
    for name in arguments.names:
        path = "/v1/sessions/" + urllib.parse.quote(name, safe="")
        ask(url, "DELETE", path, 204, arguments.timeout)
    return OK

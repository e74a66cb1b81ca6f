"""`python -m gradd script.py`: runs a PyTorch script, as it is, with gradd in torch's place."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from . import connect
from ._place import put


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a script, or with -m a module, in a session of its own, with the arguments that follow it."""
    parser = argparse.ArgumentParser(prog="python -m gradd", description=__doc__)
    parser.add_argument("--url", help="the daemon; default GRADD_URL, else in this process")
    parser.add_argument("--session", help="a name for the session, which then outlives the script")
    parser.add_argument("-m", dest="module", action="store_true", help="run a module by its name")
    parser.add_argument("script", help="the script, or the module")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its own arguments")
    given = parser.parse_args(arguments)
    put()
    sys.argv = [given.script, *given.args]
    with connect(given.url, given.session):
        if given.module:
            sys.path[0] = ""
            runpy.run_module(given.script, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = str(Path(given.script).resolve().parent)
            runpy.run_path(given.script, run_name="__main__")


if __name__ == "__main__":
    main()

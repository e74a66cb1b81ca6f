"""`gradd unit`: the file that makes gradd a service of systemd."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from gradd_server.commands.exits import OK, Unavailable

UNIT = Path(__file__).with_name("gradd.service")
NO_DEVICES = "PrivateDevices=yes"
NVIDIA = """Environment=GRADD_DEVICE=cuda
PrivateDevices=no
DevicePolicy=closed
DeviceAllow=char-nvidia-frontend rw
DeviceAllow=char-nvidia-caps rw
DeviceAllow=char-nvidia-uvm rw
DeviceAllow=/dev/nvidiactl rw
DeviceAllow=/dev/nvidia-uvm rw
DeviceAllow=/dev/nvidia0 rw"""


def add(commands: Any) -> None:
    """Add it to the commands of a parser."""
    unit = commands.add_parser("unit", help="print a hardened unit for systemd")
    unit.add_argument("--cuda", action="store_true", help="one that may use NVIDIA's first GPU")
    unit.add_argument(
        "--command", type=Path, metavar="FILE", help="the gradd that it runs [default: that of this Python]"
    )
    unit.set_defaults(run=_unit)


def _unit(arguments: argparse.Namespace) -> int:
    command = arguments.command or Path(sys.executable).with_name("gradd")
    if not command.is_file():
        raise Unavailable(f"there is no command {command}: name one with --command")
    text = UNIT.read_text(encoding="utf-8")
    devices = NVIDIA if arguments.cuda else NO_DEVICES
    print(text.replace("@COMMAND@", str(command.absolute())).replace("@DEVICES@", devices), end="")
    return OK

"""What the texts of settings mean. Who reads one raises ValueError where it is none of its kind."""

from __future__ import annotations

import ipaddress
import re
import tomllib
import urllib.parse
from collections.abc import Set
from pathlib import Path
from typing import Any

LOG_FORMATS = ("auto", "json", "text")
PLACEMENTS = ("workers", "ray")
LOG_LEVELS = ("critical", "error", "warning", "info", "debug")


def port(text: str) -> int:
    """A port."""
    port = int(text)
    if not 0 <= port <= 65535:
        raise ValueError(f"{port} is not a port: 0 to 65535, 0 for a free one")
    return port


def seconds(text: str) -> float:
    """A duration in seconds."""
    seconds = float(text)
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{text} is not a duration in seconds")
    return seconds


def log_level(text: str) -> str:
    """One of LOG_LEVELS."""
    return _one_of(text, LOG_LEVELS)


def log_format(text: str) -> str:
    """One of LOG_FORMATS."""
    return _one_of(text, LOG_FORMATS)


def plain(text: str) -> str:
    """Any text."""
    return text


def placement(text: str) -> str:
    """One of PLACEMENTS."""
    return _one_of(text, PLACEMENTS)


def _one_of(text: str, names: tuple[str, ...]) -> str:
    if text not in names:
        raise ValueError(f"{text!r} is not one of {', '.join(names)}")
    return text


def object_url(text: str) -> str:
    """The url of a place in an object store; empty for none."""
    scheme, _, place = text.partition("://")
    if text and not (scheme.isalnum() and place.strip("/")):
        raise ValueError(f"{text!r} is no url of an object store, as s3://bucket/prefix")
    return text.rstrip("/")


def shares(text: str) -> str:
    """Amounts of resources, with commas."""
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, amount = part.partition("=")
        if not name.isidentifier() or not 0 <= float(amount) < float("inf"):
            raise ValueError(f"{part!r} is no resource and its amount, as num_cpus=2")
    return text


def device(text: str) -> str:
    """cpu, cuda (all GPUs), cuda:N, or several of those with commas; or cpu and cuda, the first one first."""
    if not re.fullmatch(r"cpu|cuda|cpu,cuda|cuda,cpu|cuda:[0-9]{1,3}(,cuda:[0-9]{1,3})*", text):
        raise ValueError(f"{text!r} is not a device: cpu, cuda, cuda:N, or cuda:N,cuda:M")
    devices = [re.sub(":0*([0-9])", r":\1", device) for device in text.split(",")]
    if len({*devices}) < len(devices):
        raise ValueError(f"{text!r} names a device twice")
    return ",".join(devices)


def count(text: str) -> int:
    """A number of 0 to 1024."""
    count = int(text)
    if not 0 <= count <= 1024:
        raise ValueError(f"{count} is not a number of 0 to 1024")
    return count


def path(text: str) -> Path:
    """A path; ~ is the user's home."""
    return Path(text).expanduser()


def switch(text: str) -> bool:
    """True or false."""
    if text.lower() not in ("1", "true", "yes", "0", "false", "no"):
        raise ValueError(f"{text!r} is not true or false")
    return text.lower() in ("1", "true", "yes")


def root_path(text: str) -> str:
    """A path under which a proxy serves."""
    if text and not re.fullmatch(r"(?:/[A-Za-z0-9._~-]+)+", text):
        raise ValueError(f"{text!r} is not a path as /gradd")
    return text


def host_names(text: str) -> str:
    """Names and addresses of hosts, with commas."""
    for name in filter(None, text.split(",")):
        if not re.fullmatch(r"\*|[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]", name.strip()):
            raise ValueError(
                f"{name.strip()!r} is not the name or address of a host (and an IPv6 one is in [ ])"
            )
    return text


def reached(text: str) -> str:
    """The name or address of a host, and a port if it is said."""
    said = re.fullmatch(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?", text)
    if text and (said is None or not 0 < int(said[1] or 1) < 1 << 16):
        raise ValueError(f"{text!r} is not HOST or HOST:PORT (and an IPv6 address is in [ ])")
    return text


def origins(text: str) -> str:
    """Origins of pages, with commas, as browsers write them; * for any."""
    return ",".join(_origin(said.strip()) for said in text.split(",") if said.strip())


_PORTS = {"http": ":80", "https": ":443"}


def _origin(text: str) -> str:
    if text == "*":
        return text
    if text == "null":
        raise ValueError("null is the origin of any page of a file or a sandbox, so it cannot be allowed")
    found = re.fullmatch(r"([a-z][a-z0-9+.-]*)://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", text.lower())
    if found is None:
        raise ValueError(f"{text!r} is not an origin: scheme://host, or scheme://host:port, and no path")
    scheme, host, port = found.groups("")
    return f"{scheme}://{host}{'' if port == _PORTS.get(scheme) else port}"  # browsers leave it out


def listener(text: str) -> str:
    """ADDRESS:PORT or unix:/PATH."""
    if text.startswith("unix:"):
        if not text.startswith("unix:/"):
            raise ValueError(f"{text!r}: the path of a Unix socket begins with /")
        return text
    if text:
        host, colon, number = text.rpartition(":")
        if not (colon and host) or ("]" not in host and ":" in host):
            raise ValueError(f"{text!r} is not ADDRESS:PORT (an IPv6 one is in [ ]) or unix:/PATH")
        port(number)
    return text


def collector(text: str) -> str:
    """An http or https address."""
    parts = urllib.parse.urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ValueError(f"{text!r} is not the http:// or https:// address of a collector")
    return text


def addresses(text: str) -> str:
    """IP networks, with commas."""
    for address in filter(None, text.split(",")):
        ipaddress.ip_network(address.strip())
    return text


def number(text: str) -> int:
    """A number that is not negative."""
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError(f"{text!r} is not a number")
    return int(text)


_UNITS = {"": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def nbytes(text: str) -> int:
    """A number of bytes, as 4GiB."""
    found = re.fullmatch(r"([0-9]{1,18}) ?([A-Za-z]*)", text)
    if found is None or found[2].upper() not in _UNITS:
        raise ValueError(f"{text!r} is not a number of bytes, as 500MiB or 4GiB")
    return int(found[1]) * _UNITS[found[2].upper()]


def is_loopback(host: str) -> bool:
    """Whether `host` is a loopback address, judging by its spelling."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def joined(value: Any) -> Any:
    """The text of a setting that may be given several times."""
    return ",".join(map(str, value)) if isinstance(value, list) else value


def toml(path: Path, known: Set[str]) -> dict[str, Any]:
    """The settings of a file, of which some are `known`. What is wrong with it is the error's message."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as bad:
        raise ValueError(str(bad)) from None
    if unknown := sorted(table.keys() - known):
        raise ValueError(f"unknown setting {unknown[0]!r}")
    return table

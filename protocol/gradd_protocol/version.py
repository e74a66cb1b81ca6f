"""Versions of the distribution and of the wire."""

VERSION = "0.1.0"
"""Version of the `gradd` distribution."""

WIRE = "gradd.v1"
"""Name of the wire protocol: the WebSocket subprotocol, and the `/v1` of every path."""

EXTENSIONS = ("json", "npy", "recording", "reduce", "safetensors", "sites", "stream")
"""Optional features of a daemon of this version; clients check these, never the version."""

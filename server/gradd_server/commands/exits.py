"""How commands end."""

from __future__ import annotations

# From sysexits.h; 2 is argparse's.
OK, USAGE, DAMAGED, UNAVAILABLE, GAVE_UP, CANNOT_CREATE, LOCKED, BAD_CONFIG = 0, 2, 65, 69, 70, 73, 75, 78

EXIT_CODES = """exit codes:
  0 done   2 usage   65 damage was found   69 unavailable
  70 work in flight was given up after --drain-timeout
  73 the data directory cannot be made
  75 the data directory is held by another daemon   78 bad configuration"""


class Unavailable(RuntimeError):
    """No daemon answers or can be started; the command exits with 69."""

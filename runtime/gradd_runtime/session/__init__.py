"""A session: its state, and what each request does. Frames in, frames out.

Batches come as frames or as JSON; `perform` runs both. Hooks over REST are programs of the session.
"""

from .session import Session
from .writers import Writer

__all__ = ["Session", "Writer"]

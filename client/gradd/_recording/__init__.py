"""Recording: a thread's ops as steps of a program, and where a batch of them ends."""

from .ahead import Ahead, Made
from .recorder import Recorder
from .sharing import Sharing
from .sites import call_site
from .stream import Draws
from .tape import Tape

__all__ = ["Ahead", "Draws", "Made", "Recorder", "Sharing", "Tape", "call_site"]

"""Programs, from description to results: bound to ops, admitted on shapes, run eagerly.

Errors become problems here, and a profiler measures on request.
"""

from .admission import Admitted, admit
from .binding import Bound, bind_program, check_uploads, lookup
from .context import RunContext
from .executor import Run, run, run_step
from .problems import broken, class_of, halted, invalid, op_failed, over_quota
from .profiler import Profiler

__all__ = [
    "Admitted", "Bound", "Profiler", "Run", "RunContext", "admit", "bind_program", "broken", "check_uploads",
    "class_of", "halted", "invalid", "lookup", "op_failed", "over_quota", "run", "run_step",
]  # fmt: skip

"""Processes (torch.multiprocessing): Python's own. A tensor in a queue travels as its values: processes share
tensors through a session, by name, and a forked one reaches those of its parent.
"""

from multiprocessing import (
    Array,
    Barrier,
    Condition,
    Event,
    JoinableQueue,
    Lock,
    Manager,
    Pipe,
    Pool,
    Process,
    Queue,
    RLock,
    Semaphore,
    SimpleQueue,
    TimeoutError,
    Value,
    active_children,
    cpu_count,
    current_process,
    freeze_support,
    get_all_start_methods,
    get_context,
    get_start_method,
    parent_process,
    set_start_method,
)

from .spawned import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    get_all_sharing_strategies,
    get_sharing_strategy,
    set_sharing_strategy,
    spawn,
    start_processes,
)

__all__ = [
    "Array", "Barrier", "Condition", "Event", "JoinableQueue", "Lock", "Manager", "Pipe", "Pool", "Process",
    "ProcessContext", "ProcessExitedException", "ProcessRaisedException", "Queue", "RLock", "Semaphore",
    "SimpleQueue", "TimeoutError", "Value", "active_children", "cpu_count", "current_process",
    "freeze_support", "get_all_sharing_strategies", "get_all_start_methods", "get_context",
    "get_sharing_strategy", "get_start_method", "parent_process", "set_sharing_strategy", "set_start_method",
    "spawn", "start_processes",
]  # fmt: skip

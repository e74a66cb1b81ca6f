"""The process group of one process: how it begins and ends, and what it says of itself."""

from __future__ import annotations

import os
from enum import Enum
from typing import Any

_BACKENDS = ("gloo", "nccl", "ucc", "mpi", "xccl", "fake")


class ReduceOp(Enum):
    """How a reduction combines what the processes have: of one process it is what that has."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8


class _BackendName(str):
    """The name of a backend, in lower case. ValueError for what is no str."""

    GLOO, NCCL, UCC, MPI, XCCL = "gloo", "nccl", "ucc", "mpi", "xccl"

    def __new__(cls, name: str) -> _BackendName:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


Backend = _BackendName


class ProcessGroup:
    """A group of one process."""

    def __init__(self, backend: str) -> None:
        self._backend = backend

    def rank(self) -> int:
        """0."""
        return 0

    def size(self) -> int:
        """1."""
        return 1

    def name(self) -> str:
        """The backend that it was asked for."""
        return self._backend


class _Default:
    """The process group that is meant where none is named."""

    held: ProcessGroup | None = None


class _World(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The default group."""
        return _Default.held


class group(metaclass=_World):
    """``group.WORLD`` is the default group."""


class GroupMember(metaclass=_World):
    """``GroupMember.WORLD`` is the default group."""

    #: what a process gets of a group that it is not in
    NON_GROUP_MEMBER = -100


class _Done:
    """What an asynchronous collective returns: it is done already."""

    def wait(self, timeout: Any = None) -> bool:
        """True."""
        return True

    def is_completed(self) -> bool:
        """True."""
        return True

    def is_success(self) -> bool:
        """True."""
        return True


Work = _Done


def is_available() -> bool:
    """True: a world of one process can be made."""
    return True


def is_initialized() -> bool:
    """Whether there is a default group."""
    return _Default.held is not None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Make the default group, of this process alone, whatever the backend and the way to meet others.

    As https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group. With
    ``env://``, the default, rank and size are those of the environment. ValueError where it does not name
    them, or there is a group already; NotImplementedError for a world of several processes.
    """
    if _Default.held is not None:
        raise ValueError("trying to initialize the default process group twice!")
    scheme = (init_method or ("" if store is not None else "env://")).partition("://")[0]
    if scheme == "env":
        world_size = _from_env("WORLD_SIZE") if world_size < 0 else world_size
        rank = _from_env("RANK") if rank < 0 else rank
    if world_size < 0 or rank < 0:
        raise ValueError("rank and world_size are needed where the environment is not asked for them")
    if world_size != 1:
        raise NotImplementedError(
            f"gradd has process groups of one process, not of {world_size}: start the script as one "
            "(WORLD_SIZE=1)"
        )
    if rank != 0:
        raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, 0]")
    _Default.held = ProcessGroup(Backend("gloo" if backend is None else backend))


def _from_env(name: str) -> int:
    found = os.environ.get(name)
    if found is None:
        raise ValueError(
            "Error initializing torch.distributed using env:// rendezvous: environment variable "
            f"{name} expected, but not set"
        )
    return int(found)


def default_group(given: Any = None) -> ProcessGroup:
    """The group that is meant; ValueError where there is none."""
    found = given if isinstance(given, ProcessGroup) else _Default.held
    if found is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call init_process_group."
        )
    return found


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Forget a group, the default one unless another is given."""
    if group is None and _Default.held is None:
        raise AssertionError("Process group cannot be None")
    if group is None or group is _Default.held:
        _Default.held = None


def new_group(ranks: Any = None, timeout: Any = None, backend: Any = None, **options: Any) -> ProcessGroup:
    """A group of its own of the one process. ValueError for other ranks."""
    world = default_group()
    if ranks is not None and list(ranks) != [0]:
        raise ValueError("the new group's rank should be within the world_size set by init_process_group")
    return ProcessGroup(world.name() if backend is None else Backend(backend))


def get_rank(group: ProcessGroup | None = None) -> int:
    """0. ValueError before there is a group."""
    return default_group(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """1. ValueError before there is a group."""
    return default_group(group).size()


def get_backend(group: ProcessGroup | None = None) -> str:
    """The backend that the group was asked for."""
    return default_group(group).name()


def get_process_group_ranks(group: ProcessGroup | None = None) -> list[int]:
    """``[0]``."""
    return list(range(get_world_size(group)))


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """0. ValueError for another rank."""
    return get_group_rank(group, group_rank)


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """0. ValueError for another rank."""
    if global_rank not in get_process_group_ranks(group):
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return global_rank


def is_backend_available(backend: str) -> bool:
    """Whether a group may be asked for that backend: for each that PyTorch has."""
    return backend.lower() in _BACKENDS


def is_gloo_available() -> bool:
    """True: a group of one process needs none of it."""
    return True


def is_nccl_available() -> bool:
    """False: there is one process, which calls no NCCL."""
    return False


def is_mpi_available() -> bool:
    """False."""
    return False


def is_ucc_available() -> bool:
    """False."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether torchrun started the script."""
    return "TORCHELASTIC_RUN_ID" in os.environ

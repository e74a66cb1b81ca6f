"""Arguments that an op cannot be computed from, where no check said so.

`infer`, kernels and composites say in PyTorch's words what they refuse. What Python or NumPy ran into instead
(shapes that do not broadcast, a list that is too short) becomes a RuntimeError that names the op and its
arguments.
"""

from __future__ import annotations

import dis
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..tensor import Tensor

if TYPE_CHECKING:
    from ..schema import Op

_RAISE_OPCODE = dis.opmap["RAISE_VARARGS"]
_HERE = str(Path(__file__).parents[1])


class NotAsInferred(Exception):
    """A kernel made something other than `infer` said."""


def stated(error: BaseException) -> bool:
    """Whether a `raise` made it, or it came out of code that is not the engine's (a caller's own function, or
    memory that ran out).
    """
    if isinstance(error, NotAsInferred):
        return False
    if not isinstance(error, Exception) or isinstance(error, MemoryError):
        return True
    last = error.__traceback__
    if last is None:
        return True
    ours = last.tb_frame
    while last.tb_next is not None:
        last = last.tb_next
        if last.tb_frame.f_code.co_filename.startswith(_HERE):
            ours = last.tb_frame
    code = last.tb_frame.f_code
    if last.tb_frame is not ours and "numpy" not in code.co_filename:
        return True
    return last.tb_frame is ours and code.co_code[last.tb_lasti] == _RAISE_OPCODE


def misfit(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> RuntimeError:
    """The error for arguments that an op cannot be computed from."""
    given = [f"{name}={_shown(x)}" for name, x in zip(op.tensor_slots, inputs, strict=False)]
    given += [f"{name}={_shown(v)}" for name, v in attrs.items()]
    return RuntimeError(f"{op.name}(): cannot be computed of {', '.join(given)}"[:1000])


def _shown(x: Any) -> str:
    if isinstance(x, Tensor):
        return f"{x.dtype.name}{list(x.shape)}"
    if isinstance(x, (list, tuple)):
        return f"[{', '.join(map(_shown, x[:16]))}{', ...' if len(x) > 16 else ''}]"
    return repr(x)

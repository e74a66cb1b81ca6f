"""Arguments that an op cannot be computed of, where nobody said so beforehand.

What `infer`, kernels and composites refuse they say themselves, in PyTorch's words. What Python or NumPy ran
into instead (shapes that do not broadcast, a list that is too short) is no answer to whoever called: it
becomes a RuntimeError that names the op and what it was given.
"""

from __future__ import annotations

import dis
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..tensor import Tensor

if TYPE_CHECKING:
    from ..schema import Op

_RAISE = dis.opmap["RAISE_VARARGS"]
_HERE = str(Path(__file__).parents[1])


class NotAsInferred(Exception):
    """A kernel made something else than `infer` said."""


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
    return last.tb_frame is ours and code.co_code[last.tb_lasti] == _RAISE


def misfit(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> RuntimeError:
    """What to raise for arguments that an op cannot be computed of."""
    given = [f"{name}={_shown(x)}" for name, x in zip(op.tensor_slots, inputs, strict=False)]
    given += [f"{name}={_shown(v)}" for name, v in attrs.items()]
    return RuntimeError(f"{op.name}(): cannot be computed of {', '.join(given)}"[:1000])


def _shown(x: Any) -> str:
    if isinstance(x, Tensor):
        return f"{x.dtype.name}{list(x.shape)}"
    if isinstance(x, (list, tuple)):
        return f"[{', '.join(map(_shown, x[:16]))}{', ...' if len(x) > 16 else ''}]"
    return repr(x)

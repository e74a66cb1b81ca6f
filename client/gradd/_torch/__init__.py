"""For people who have PyTorch installed beside gradd: its tensors, layers and models taken over.

Nothing else in gradd imports PyTorch, and this does at a call only. A daemon never needs it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any


def from_torch(what: Any) -> Any:
    """What PyTorch made, as gradd's, in the current session.

    `what`: a tensor or Parameter, a `torch.nn.Module`, or dicts, lists and tuples of these, such as a state
    dict. A tensor keeps its values, dtype, class and `requires_grad`, and becomes a leaf; it shares no memory
    with PyTorch's. One that occurs twice is one tensor here too: call this once for all that share some. A
    module becomes the tree of the same layers of `gradd.nn`, with its options, parameters, buffers and
    modes.

    Raises TypeError for a module with a class of your own (see `offload`), a layer that `gradd.nn` does not
    have, or hooks, and for tensors that are not strided or of a dtype that gradd does not have.
    ModuleNotFoundError without PyTorch.
    """
    _need_torch("from_torch")
    from .taking import take

    return take(what)


def offload(
    model: Any,
    args: Any = (),
    kwargs: dict[str, Any] | None = None,
    *,
    parameters: str = "torch",
    dynamic_shapes: Any = None,
) -> Any:
    """A PyTorch model that computes in the current session, exported by `torch.export` without being changed.

    `model`: a `torch.nn.Module`; `args` (a tuple, or a single tensor) and `kwargs`: inputs as it is called
    with. `dynamic_shapes`: as in torch.export.export; without it a call with other sizes exports again, with
    the sizes that changed left free.

    With `parameters` "torch" the result is a `torch.nn.Module` in place of the model, which it has as
    `module`: its outputs are PyTorch's tensors, a backward pass puts gradients into the model's own
    parameters, and buffers are updated. A call is one round trip, and so is its backward pass; each is one
    more where over 256 KiB go or come. Parameters and buffers go to the session with the first call, and
    again where their version says that they changed.

    With "session" it is a `gradd.nn.Module`: parameters and buffers are taken over once and stay in the
    session, under the model's names, for an optimizer of `gradd.optim`. It takes tensors of either kind and
    returns gradd's. Its `write_back()` copies the values into the model.

    Raises NotImplementedError with the names of all operators that are not supported, before anything is
    sent; ValueError for other `parameters`, TypeError if `model` is no module, ModuleNotFoundError without
    PyTorch, and what torch.export raises for a model that it cannot export.
    """
    _need_torch("offload")
    from .forms import Forms
    from .offloaded import Offloaded
    from .resident import Resident

    if parameters not in ("torch", "session"):
        raise ValueError(f"parameters must be 'torch' or 'session', not {parameters!r}")
    forms = Forms(model, dynamic_shapes)
    made = Offloaded(forms) if parameters == "torch" else Resident(forms)
    made.prepare(args if isinstance(args, tuple) else (args,), kwargs or {})
    return made


def _need_torch(name: str) -> None:
    if find_spec("torch") is None:
        raise ModuleNotFoundError(
            f"gradd.{name}() takes over what PyTorch made, and PyTorch (torch) is not installed here",
            name="torch",
        )


__all__ = ["from_torch", "offload"]

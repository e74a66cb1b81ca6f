"""The engine put together: importing this declares every op and gives tensors and nodes what they ask of the
rooms above theirs.

A `Tensor` knows nothing of views, hooks or gradients; it names what it needs of them, and here, and nowhere
else, that is attached.
"""

from . import ops
from .backward import autograd, backward_op, edges, grad_op, gradients, hooks, passes, saved_hooks
from .custom import custom_node, function, seeding
from .data import no_deletion
from .declare import TEXTS
from .graph import view_history
from .tensor import Node, Tensor
from .transforms import forward_ad

Tensor._refresh = view_history.refresh
Tensor._renew = autograd.renew.call
Tensor._look = edges.look
Tensor._set_requires_grad = autograd.set_requires_grad
Tensor._set_grad = gradients.set_grad
Tensor._set_grad_dtype = gradients.set_grad_dtype
Tensor.register_hook = hooks.register_tensor_hook
Tensor.register_post_accumulate_grad_hook = hooks.register_post_accumulate

Node.__call__ = edges.called  # type: ignore[method-assign]
Node._look_behind = edges.look_behind
Node._stand_in = edges.stand_in
Node._show = edges.saved_entry
Node._raw = saved_hooks.SavedTensor.of

# Private names of PyTorch that scripts read.
Tensor._grad_fn = property(  # type: ignore[attr-defined]
    lambda self: self.grad_fn, None, no_deletion("_grad_fn", " Detach tensor instead!")
)
Tensor._backward_hooks = property(  # type: ignore[attr-defined]
    lambda self: self._hooks, None, no_deletion("_backward_hooks")
)

TEXTS.keep()

__all__ = [
    "autograd", "backward_op", "custom_node", "edges", "forward_ad", "function", "grad_op", "gradients",
    "hooks", "ops", "passes", "saved_hooks", "seeding",
]  # fmt: skip

"""The items of PyTorch's autograd semantics that gradd is held to, each with a short title.

An item's number is in the names of its tests: `test_06_02_...` is of item 6.2. docs/parity.md is made of this
table, of those names and of `DIFFERS` (`make parity`).
"""

from __future__ import annotations

SECTIONS: dict[int, tuple[str, tuple[str, ...]]] = {
    1: ("backward(): the gradient argument", (
        "signature and order of arguments",
        "without a gradient: one element only",
        "a complex output needs a gradient",
        "the gradient has exactly the output's shape",
        "real gradients are cast to the output's dtype",
        "complex and real do not mix",
        "a gradient that is no tensor",
        "a gradient on another device",
        "an output that needs no gradient",
        "backward of a leaf accumulates 1",
        "the gradient may need a gradient itself",
    )),
    2: ("Lifetime of a graph", (
        "retain_graph defaults to create_graph",
        "a second pass through a freed graph",
        "freed are values: graphs that saved none can be walked again",
        "a shared part is freed for both roots",
        "later nodes run first; no rollback after an error",
        "after an error in a hook the pass can be repeated",
        "saved values of a freed node",
        "create_graph in backward() warns once",
        "which gradients of a recorded pass need gradients",
        "deep graphs, several threads, passes within passes",
        "the caller's gradient mode does not matter",
    )),
    3: ("autograd.backward", (
        "signature; one root, several, or edges",
        "as many gradients as roots",
        "all roots run in one pass",
        "grad_variables still works and warns",
        "retain_variables",
        "roots that are no tensors",
    )),
    4: ("inputs=", (
        "only the named tensors accumulate",
        "one tensor is enough, none is an error",
        "non-leaves may be named",
        "a named tensor that needs no gradient",
        "unreachable, or named twice",
        "edges as inputs",
        "GradientEdge and get_gradient_edge",
        "edges as roots, and in autograd.grad",
    )),
    5: ("autograd.grad", (
        "signature; a tuple, and no .grad touched",
        "inputs that were not used",
        "materialize_grads gives zeros",
        "an input that needs no gradient",
        "no inputs at all",
        "several outputs are summed, inputs may repeat",
        "views taken after the forward, and detached tensors",
        "only_inputs is ignored and warns",
        "batches of cotangents",
        "which hooks run",
    )),
    6: ("Accumulation and layout", (
        "gradients add up over passes; the first is stored, not aliased",
        "in place, but for recorded passes",
        "what a new .grad is",
        "a new .grad is laid out as its leaf",
        "an existing .grad keeps its strides",
        ".grad has the leaf's dtype, and grad_dtype",
        "broadcasting is undone",
        "a leaf switched off after the forward",
        "assigning .grad: what is refused",
        "assigning and deleting .grad",
        ".grad of a non-leaf warns",
        "sparse gradients",
    )),
    7: ("Leaves, requires_grad, retain_grad", (
        "what is a leaf",
        "a non-leaf cannot be switched off",
        "integers cannot need gradients: three messages",
        "when a result needs a gradient",
        "retain_grad",
        "a cast to integers cuts the graph",
    )),
    8: ("detach, data, conversions", (
        "detach() shares memory and version",
        ".data shares memory alone",
        "detach_()",
        "assigning .data",
        "numpy(), item() and tolist()",
        "numbers and truth of tensors with many elements or none",
        "deepcopy is for leaves",
        "how tensors print",
        "conversions that change nothing",
    )),
    9: ("Modes", (
        "no_grad, enable_grad, set_grad_enabled: nesting and decorating",
        "as a plain call; leaves made within no_grad",
        "views made within no_grad",
        "leaves changed in place within no_grad",
        "the mode inside hooks and Functions",
        "inference_mode",
        "inference tensors outside of it",
    )),
    10: ("In-place, views, versions", (
        "leaves that need gradients are protected",
        "a non-leaf gets a new history",
        "a saved value that was changed is noticed",
        "what each op saves decides",
        "changes after the pass, and of leaves that were not saved",
        "filling and masking cut the gradient",
        "writing a tracked value into part of a tensor",
        "writing to a view, and to its base",
        "views of functions with several outputs",
        "targets that cannot be written to",
        "_version",
        "increment_version",
    )),
    11: ("Hooks", (
        "Tensor.register_hook",
        "what a tensor hook may not do",
        "retain_grad comes after all hooks",
        "hooks and in-place changes",
        "order at a leaf",
        "order at a node",
        "post-accumulate hooks",
        "node hooks, before and after",
        "autograd.grad and the hooks of its inputs",
        "hooks of several tensors",
        "hooks registered while a pass runs",
    )),
    12: ("The graph", (
        "names of nodes",
        "next_functions and AccumulateGrad",
        "name(), metadata and identity of nodes",
        "saved values, and nodes that are called",
    )),
    13: ("Saved-tensor hooks", (
        "pack and unpack, once a slot",
        "what the hooks get and must give",
        "disabling; save_on_cpu; allow_mutation_on_saved_tensors",
    )),
    14: ("autograd.Function", (
        "apply, and the name of the node",
        "missing methods",
        "as many gradients as inputs",
        "gradients that fit, or not",
        "absent output gradients",
        "needs_input_grad",
        "mark_non_differentiable",
        "mark_dirty",
        "an input returned as it is",
        "save_for_backward",
        "once_differentiable",
        "setup_context, and function transforms",
        "jvp",
    )),
    15: ("Checkpoint, anomaly mode, gradcheck", (
        "checkpoint, of both kinds",
        "anomaly mode",
        "gradcheck and gradgradcheck",
    )),
    16: ("Forward mode", (
        "levels and dual tensors",
        "levels that are missing, nested or left twice",
        "shapes and dtypes of tangents",
        "modes, detach, in-place ops; forward over reverse",
        "ops without a rule",
    )),
    17: ("autograd.functional", (
        "structure of results",
        "v: when it may be left out",
        "independent outputs, and strict",
        "strategies and inputs of jacobian",
        "what hessian and the vector products ask of a function",
        "create_graph; complex and integer inputs",
    )),
    18: ("func", (
        "grad needs a scalar",
        "argnums, has_aux, nesting",
        "grad_and_value, vjp, jvp, Jacobians, linearize, functional_call",
        "vmap: what it refuses",
    )),
    19: ("Complex numbers", (
        "gradients of real functions",
        "gradients of holomorphic functions",
        "real leaves in complex graphs",
        "conj() is a view; real and imag",
    )),
    20: ("Gradients at kinks", (
        "activations",
        "clamping",
        "extreme values and ties",
        "extremes that are NaN, running extremes, sorting",
        "norms and distances at zero",
        "roots, logarithms and powers",
        "products with zeros",
        "functions of two arguments, entropies, deviations",
        "rounding and remainders",
        "masks do not shield",
        "losses and pooling",
        "repeated indices",
        "linear algebra at singular points",
    )),
    21: ("Promotion of types", (
        "categories and the lattice",
        "0-dim tensors",
        "Python numbers",
        "results of integers",
        "which ops promote",
        "booleans, and dtypes without an implementation",
        "gradients have the operands' dtypes",
    )),
    22: ("Errors", (
        "the common ones",
        "the oracle's own error inputs of each op",
    )),
    23: ("Legacy names", (
        "Variable",
        "volatile",
        "what was removed",
        "Variable.backward's old arguments",
    )),
    24: ("Streams", (
        "backward runs on the stream of its forward",
        "backward() returns synchronised",
        "the gradient argument's stream",
        "names of stream settings",
    )),
}  # fmt: skip

#: every item, in order, with its title
ITEMS: dict[str, str] = {
    f"{section}.{number}": title
    for section, (_, titles) in SECTIONS.items()
    for number, title in enumerate(titles, 1)
}

#: items without a test of their own: to become empty
PENDING: frozenset[str] = frozenset(
    (
        "6.4 6.5 6.12 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 8.9 9.6 9.7 10.7 10.8 10.9 10.10 14.13 19.1 19.2 19.3 "
        "19.4 20.1 20.2 20.3 20.4 20.5 20.6 20.7 20.8 20.9 20.10 20.11 20.12 20.13 21.5 21.6 21.7 22.1 22.2 "
        "23.1 23.2 23.3 23.4 24.1 24.2 24.3"
    ).split()
)

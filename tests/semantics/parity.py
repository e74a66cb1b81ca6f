"""docs/parity.md: what of the inventory is tested, and where gradd differs. `make parity` writes it.

The page says what the tests are, not that they passed: that is what running them says.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import defaultdict
from pathlib import Path

from tests.ptsuite.failing import AT_LEAST, GROUPS
from tests.semantics.conftest import DIFFERS
from tests.semantics.inventory import ITEMS, PENDING, SECTIONS

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "parity.md"
_NAME = re.compile(r"test_(\d\d)_(\d\d)_\w+")

_HEAD = """\
# Parity with PyTorch

Written by `make parity` from the tests of `tests/semantics`; a test fails where it is stale. Each item of
PyTorch's autograd semantics has tests, named by its number, and each of them runs the same lines four times:
under torch, whose answer is thereby checked too, and under gradd in process (`local:`), over the stream and
over http.

**Holds** means that the tests compare the same values, classes and messages on all four. **Differs** means
that gradd does something else on purpose; the tests assert that too, and the note says why.

{held} of {all} items hold, {differ} differ{pending}.
"""

#: what a section says before its table
_NOTES = {
    24: """\
These hold by construction: what a session is asked to do it does in one order, that in which batches were
applied. A forward, its backward and whoever reads a gradient are steps of that one stream, so there is
nothing to synchronise: a value that is read is what the steps before it made, whichever thread recorded them.
"""
}
_TAIL = """
## Beyond the inventory

Small differences that no item names:

- The daemon runs no code of its users. A hook that one client registered runs in passes that this client
  starts; a hook declared over REST runs in all of them, and an SDK's mirror does not see what it does to
  `.grad`.
- A pass over a batch of cotangents (`is_grads_batched`) that meets hooks or Functions is a pass for each of
  them.
- A Function that writes to a view may be given it in any place, and its gradient may be None: the rest of the
  base keeps its gradient. PyTorch takes the view for the first input, and drops the base's whole gradient.
- A Function's `vmap` sees the mapped dimension as dimension 0.
- `func.jvp` inside a `dual_level` works; PyTorch refuses to nest them.
- Complex `conj()` is a lazy view; there is no negative bit, so `z.conj().imag` is a copy and `is_neg()` is
  False.
- Sparse tensors are dense behind what they say: memory and time are those of the dense tensor, and functions
  that PyTorch refuses for them give dense results. `values()` and `_values()` are copies, and a gradient with
  respect to a sparse tensor is dense. A sparse gradient of an embedding that looks up a row several times has
  the row's whole gradient at the first of these. No quantized or nested tensors, no half-precision complex
  dtype.
- `x[mask]` keeps the indices that the mask gave, so that changing the mask afterwards goes unnoticed.
- Within saved-tensor hooks, a pass with `create_graph` does not pack what its own graph keeps.
- An error that depends on values (an index out of range) is raised where values are read next, with the line
  that recorded it.
- The gradient of `det` at an exactly singular matrix is 0 with `create_graph` too; that of a norm of order 0
  is no gradient.
- A leaf that was turned in place (`t_`, `squeeze_`, ...) under `no_grad` while a graph of it lives gets its
  gradients in its new shape. PyTorch's graph keeps the old one, and refuses what does not fit.
- A tensor that retains its gradient and was turned in place with autograd may be written to: PyTorch does so,
  with the same values and gradients, and then fails an assertion of its own. A hook registered after such a
  turn is given the gradient in the new shape; PyTorch's joins the hooks from before it, in the old shape.
- Tangents of `cholesky_inverse` are those of the function: PyTorch multiplies in another order than the
  derivative has. Those of `triangular_solve` do not count the triangle that is not read; PyTorch's do.
- Singular values of infinities are refused, and so `pinv` and `lstsq`, as of NaN; PyTorch gives NaN for some.
- The parts that `unsafe_split` and its kin give have memory of their own.
- `numpy()`, `from_numpy()` and DLPack copy. A write to the array of `numpy()` raises; one to a tensor whose
  array is in use, and one to an array between `from_numpy()` and the next batch, give a `LostWriteWarning`.
"""

_SUITE = """
## PyTorch's own tests

`make ptsuite PYTORCH_TESTS=<the folder test of a checkout of PyTorch>` runs `test_autograd.py`,
`autograd/test_functional.py`, `autograd/test_complex.py` and `functorch/test_eager_transforms.py` with gradd
in the place of torch. Counted are tests that real torch passes on the CPU and that are of nothing that gradd
leaves out by design (`tests/ptsuite/rules.py`: subclasses and dispatch modes, compilers, sparse, quantized
and nested tensors, the profiler, C++ extensions, private names of `torch._C`). At least {passing} pass; these
{failing} do not:

| why | tests |
|---|---|
"""


def tests() -> dict[str, list[tuple[str, str]]]:
    """For each item its tests: the file and the name of each, in the files' order."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            match = _NAME.fullmatch(node.name) if isinstance(node, ast.FunctionDef) else None
            if match is not None:
                found[f"{int(match[1])}.{int(match[2])}"].append((path.name, match[0]))
    return dict(found)


def without_tests() -> set[str]:
    """The items of the inventory that no test is named by."""
    return set(ITEMS) - set(tests())


def _row(item: str, title: str, found: list[tuple[str, str]]) -> str:
    files = sorted({name for name, _ in found})
    links = ", ".join(f"[{name.removeprefix('test_')}](../tests/semantics/{name})" for name in files)
    status = "differs" if item in DIFFERS else "holds" if found else "not tested yet"
    return f"| {item} | {title} | {status} | {len(found)} in {links} | {DIFFERS.get(item, '')} |".replace(
        "| 0 in  |", "| – |"
    )


def page() -> str:
    """The text of docs/parity.md."""
    known = tests()
    missing = without_tests()
    differ = len(set(DIFFERS) & set(ITEMS))
    text = _HEAD.format(
        held=len(ITEMS) - differ - len(missing - set(DIFFERS)),
        all=len(ITEMS),
        differ=differ,
        pending=f", {len(missing)} have no test yet" if missing else "",
    )
    for section, (heading, titles) in SECTIONS.items():
        text += f"\n## {section}. {heading}\n\n"
        text += f"{_NOTES[section]}\n" if section in _NOTES else ""
        text += "| item | | status | tests | note |\n|---|---|---|---|---|\n"
        for number, title in enumerate(titles, 1):
            item = f"{section}.{number}"
            text += _row(item, title, known.get(item, [])) + "\n"
    return text + _TAIL + _suite()


def _suite() -> str:
    """What of PyTorch's own tests fails, and why."""
    text = _SUITE.format(passing=AT_LEAST, failing=sum(len(tests.split()) for _, tests in GROUPS))
    for reason, tests in GROUPS:
        names = ", ".join(f"`{test}`" for test in tests.split())
        text += f"| {reason} | {names} |\n"
    return text


def main() -> None:
    """Print the page, or write it; name the items without a test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    if parser.parse_args().write:
        PAGE.write_text(page())
        missing = sorted(without_tests(), key=lambda item: [int(n) for n in item.split(".")])
        print(f"{PAGE.name}: {len(missing)} items without a test: {', '.join(missing) or 'none'}")
        if set(missing) != PENDING:
            print("PENDING in tests/semantics/inventory.py says otherwise")
    else:
        print(page(), end="")


if __name__ == "__main__":
    main()

"""A plan's calls as one Python function, without loops or lookups between kernels.

Calling through a list of closures would cost more than a tiny kernel itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .lower import Plain

if TYPE_CHECKING:
    from .registers import PlanStep, Registers
    from .sweep import Sweep


def straight(
    steps: Sequence[PlanStep], writes_at: int, looks: bool, sweeps: Sequence[Sweep] = ()
) -> Callable[[Registers], None]:
    """A function that runs `steps`; before step `writes_at` it sets the registers' ``wrote``. With `looks` it
    stops before any step up to there if it is asked to. Each of `sweeps` takes the place of its steps.

    Call it after a first run: kernels that are trusted by then are called directly.
    """
    names: dict[str, Any] = {}
    lines = ["def run(f):", "    a = f.arrays", "    q = f.account"]
    begins = {s.first: s for s in sweeps}
    swept = 0
    for n, (run, _, dead) in enumerate(steps):
        if n < swept:
            continue
        if looks and n <= writes_at:
            lines.append("    if q.brim < 0: q.look(q.asked)")
        if n == writes_at:
            lines += ["    f.wrote = True", "    q.heeds = False"]
        if n in begins:
            lines += _swept(begins[n], n, names)
            swept, dead = begins[n].end, begins[n].dead
        elif isinstance(run, Plain) and run.trusted:
            given = [f"a[{w}]" for w in run.wanted]
            if run.direct is not None:
                names[f"k{n}"] = run.direct
            else:
                names[f"k{n}"], names["xp"] = run.impl, run.xp
                given.insert(0, "xp")
                for at, (name, value) in enumerate(run.attrs.items()):
                    names[f"c{n}_{at}"] = value
                    given.append(f"{name}=c{n}_{at}")
            lines.append(f"    a[{run.out}] = k{n}({', '.join(given)})")
        else:
            names[f"k{n}"] = run
            lines.append(f"    k{n}(f)")
        if dead:
            lines.append(f"    {' = '.join(f'a[{register}]' for register in dead)} = None")
    # The text contains only numbers and parameter names from the ops' declarations.
    exec(compile("\n".join(lines), "<plan>", "exec"), names)
    made: Callable[[Registers], None] = names["run"]
    return made


def _swept(sweep: Sweep, n: int, names: dict[str, Any]) -> Iterator[str]:
    """The lines of a sweep: inputs in, all its rows, what is used after it out."""
    for k, (view, register, index, _) in enumerate(sweep.loads):
        names[f"v{n}_{k}"] = view
        yield f"    v{n}_{k}[...] = a[{register}]{index}"
    # Rows are an address to the loop: the function holds them.
    names[f"k{n}"], names[f"r{n}"], names[f"w{n}"] = sweep.run, sweep.rows.ctypes.data, sweep
    yield f"    k{n}(r{n}, {len(sweep.rows)})"
    for k, (register, view) in enumerate(sweep.stores):
        names[f"s{n}_{k}"] = view.copy
        yield f"    a[{register}] = s{n}_{k}()"

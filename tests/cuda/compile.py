"""Compile every device kernel for every type and architecture; `make cuda-compile` runs it."""

from __future__ import annotations

import sys
import time

from gradd_engine.kernels.cuda import fused
from gradd_engine.kernels.cuda.launch import OPTIONS
from gradd_engine.kernels.cuda.sources import KERNELS, source_of, together

from tests.cuda import nvrtc
from tests.cuda.fused_cases import sources as fused_sources

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")


def modules() -> dict[tuple[str, str], list[str]]:
    """What is compiled at once: a source and types, and the kernels that there are."""
    pairs = {(k.source, types): None for k in KERNELS.values() for types in k.types}
    return {pair: together(*pair) for pair in sorted(pairs)}


def refusals(architecture: str) -> list[str]:
    """What NVRTC says of the sources that it does not compile."""
    found = []
    for (source, types), names in modules().items():
        try:
            nvrtc.compile(source_of(source), names, (*OPTIONS, f"--gpu-architecture={architecture}"))
        except nvrtc.Refused as refused:
            found.append(f"{source}.cu for {types} on {architecture}:\n{refused}")
    for text in fused_sources():
        try:
            nvrtc.compile(fused.whole(text), ["fused"], (*fused.EXACT, f"--gpu-architecture={architecture}"))
        except nvrtc.Refused as refused:
            found.append(f"a fused kernel on {architecture}:\n{refused}\n{text}")
    return found


def main() -> int:
    """Print what was compiled; 1 if anything was refused, 2 where there is no NVRTC."""
    if nvrtc.library() is None:
        print("no NVRTC here: pip install --group cuda-compile", file=sys.stderr)
        return 2
    made, bad, began = sum(map(len, modules().values())), 0, time.monotonic()
    what = f"{made} kernels in {len(modules())} modules, {len([*fused_sources()])} fused ones"
    for architecture in ARCHITECTURES:
        start, said = time.monotonic(), refusals(architecture)
        bad += len(said)
        print(*said, sep="\n", end="\n" if said else "")
        print(f"{architecture}: {what}, {time.monotonic() - start:.1f} s")
    print(
        f"NVRTC {nvrtc.version()}: {len(KERNELS)} kernels, with their types {made}, on "
        f"{len(ARCHITECTURES)} architectures, {bad} modules refused, {time.monotonic() - began:.1f} s"
    )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())

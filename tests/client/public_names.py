"""Which names PyTorch's public modules have, and which of them gradd's lack, with reasons.

`missing.txt` next to this file has a line for each module and reason: ``module | reason | names``; a module's
own line without names, "| *", is one that gradd does not have. `python -m tests.client.public_names` prints
the lines as they are today, with the reasons that are known.
"""

from __future__ import annotations

import importlib
import types
import warnings
from pathlib import Path
from typing import Any

#: modules of PyTorch's documentation that scripts import by name; "" is `torch` itself
_NAMES = """
accelerator amp amp.autocast_mode amp.grad_scaler autograd autograd.forward_ad autograd.function
autograd.functional autograd.grad_mode autograd.gradcheck autograd.graph autograd.profiler backends
backends.cpu backends.cuda backends.cudnn backends.mkl backends.mkldnn backends.mps backends.openmp
backends.opt_einsum backends.nnpack backends.quantized compiler cpu cpu.amp cuda cuda.amp cuda.graphs
cuda.memory cuda.nvtx cuda.profiler cuda.random cuda.streams distributions distributions.constraints
distributions.kl distributions.transforms distributions.utils fft func functional futures hub jit linalg
masked monitor mps mtia multiprocessing nested nn nn.attention nn.functional nn.init nn.modules nn.parallel
nn.parameter nn.utils nn.utils.fusion nn.utils.parametrizations nn.utils.parametrize nn.utils.prune
nn.utils.rnn nn.utils.stateless onnx optim optim.lr_scheduler optim.optimizer optim.swa_utils overrides
package profiler quasirandom random return_types serialization signal signal.windows sparse special storage
testing types utils utils.benchmark utils.bundled_inputs utils.checkpoint utils.collect_env
utils.cpp_extension utils.data utils.data.dataloader utils.data.dataset utils.data.distributed
utils.data.sampler utils.deterministic utils.dlpack utils.flop_counter utils.hooks utils.mobile_optimizer
utils.model_zoo utils.module_tracker utils.tensorboard version xpu __config__ __future__
"""
MODULES = _NAMES.split()
TABLE = Path(__file__).with_name("missing.txt")


def public(module: Any) -> set[str]:
    """A module's public names: its ``__all__``, else what it defines itself."""
    named = getattr(module, "__all__", None)
    if named is not None:
        return set(named)
    own = set()
    for name, value in vars(module).items():
        where = getattr(value, "__module__", None)
        if name.startswith("_") or isinstance(value, types.ModuleType) or name == "TYPE_CHECKING":
            continue
        if where is None or (isinstance(where, str) and where.startswith("torch")):
            own.add(name)
    return own


def missing() -> dict[str, set[str]]:
    """By module, the names that gradd's lacks; ``{"*"}`` where there is no such module."""
    found = {}
    for name in ["", *MODULES]:
        tail = f".{name}" if name else ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                theirs = importlib.import_module(f"torch{tail}")
            except ImportError:  # it needs a package that is not here
                continue
            try:
                ours = importlib.import_module(f"gradd{tail}")
            except ImportError:
                found[name] = {"*"}
                continue
            lacks = {each for each in public(theirs) if not hasattr(ours, each)}
        if lacks:
            found[name] = lacks
    return found


def reasons() -> dict[tuple[str, str], str]:
    """By module and name, why it is missing: what the table says."""
    told = {}
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            module, reason, names = (part.strip() for part in line.split("|"))
            told.update(
                {(module.removeprefix("torch").removeprefix("."), name): reason for name in names.split()}
            )
    return told


def lines() -> list[str]:
    """The table's lines as they are today; a reason that nobody gave yet is ``?``."""
    told, grouped = reasons(), {}
    for module, names in missing().items():
        for name in sorted(names):
            key = f"torch.{module}".rstrip("."), told.get((module, name), "?")
            grouped.setdefault(key, []).append(name)
    return [f"{module} | {reason} | {' '.join(names)}" for (module, reason), names in sorted(grouped.items())]


if __name__ == "__main__":
    print("\n".join(lines()))

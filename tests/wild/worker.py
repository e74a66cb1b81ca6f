"""Runs one script under torch or under gradd, in a folder of its own, and writes what came of it.

`python -m tests.wild.worker <plan.json> <result.json>`: a process for each run.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import random
import re
import runpy
import sys
import time
import traceback
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar
from unittest.mock import MagicMock

import numpy as np
from gradd._place import put

from tests.wild.draws import Draws

STUBS = Path(__file__).parent / "stubs"
#: what is made of nothing but answers to any call, where it is not installed
ANY = (
    "IPython", "PIL", "accelerate", "cv2", "graphviz", "imageio", "labml", "matplotlib", "moviepy", "pandas",
    "pygame", "pytorch_ranger", "seaborn", "tensorboard", "tensorboardX", "visdom", "wandb",
)  # fmt: skip
NUMBER = re.compile(r"[-+]?\d+\.\d+(?:[eE][-+]?\d+)?")


class Enough(BaseException):
    """The script made as many backward passes as it was to make."""


class _Anything(ModuleType):
    """A module that has any name, and modules below it."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = MagicMock(name=f"{self.__name__}.{name}")
        setattr(self, name, made)
        return made


class _AnythingFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.machinery.ModuleSpec(name, self) if name.partition(".")[0] in self.names else None

    def create_module(self, spec: Any) -> ModuleType:
        return _Anything(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def _stubs() -> None:
    """Stand-ins for what is not installed."""
    absent = {name for name in ANY if importlib.util.find_spec(name) is None}
    sys.meta_path.append(_AnythingFinder(absent))
    sys.path.append(str(STUBS))
    if "matplotlib" not in absent:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        plt.show = plt.pause = lambda *_, **__: plt.close("all")


class Watch:
    """What the script's backward passes start from."""

    def __init__(self, torch: Any, limit: int | None) -> None:
        self.losses: list[Any] = []
        self.passes = 0
        backward = torch.Tensor.backward

        def noted(tensor: Any, *args: Any, **options: Any) -> Any:
            if self.passes < 400:
                self.losses.append(tensor.detach().sum())
            self.passes += 1
            done = backward(tensor, *args, **options)
            if limit is not None and self.passes >= limit:
                raise Enough
            return done

        torch.Tensor.backward = noted


def _where(error: BaseException, folder: Path) -> str:
    """The last line of the script, or of its repository, that the error came through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if str(folder) in f.filename]
    return f"{Path(frames[-1].filename).relative_to(folder)}:{frames[-1].lineno}" if frames else "?"


def run(plan: dict[str, Any]) -> dict[str, Any]:
    """One run; its outcome as plain data."""
    folder, script = Path(plan["folder"]), plan["script"]
    ours = plan["side"] == "gradd"
    sys.dont_write_bytecode = True
    _stubs()
    if ours:
        put()
    import torch

    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    watch = Watch(torch, plan["passes"])
    if plan["draws"]:
        draws = Draws(torch)
        draws.put()
    at = folder / plan["cwd"]
    os.chdir(at)
    sys.path[:0] = [str(at)] if plan["driver"] else [str((folder / script).parent), str(at)]
    sys.argv = [str(folder / script), *plan["args"]]
    printed, result = io.StringIO(), {}
    began = time.monotonic()
    session: Any = contextlib.nullcontext()
    if ours:
        import gradd

        session = gradd.connect(plan["url"])
    with session:
        try:
            with contextlib.redirect_stdout(printed), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if plan["prelude"]:
                    exec(compile(plan["prelude"], "prelude", "exec"), {})
                try:
                    if plan["driver"]:
                        exec(compile(plan["driver"], "driver", "exec"), {"__name__": "__main__"})
                    else:
                        runpy.run_path(str(folder / script), run_name="__main__")
                except Enough:
                    result["enough"] = True
                except SystemExit as ended:
                    if ended.code not in (None, 0):
                        raise RuntimeError(f"exits with {ended.code}") from ended
                result["losses"] = [float(loss) for loss in watch.losses]
        except BaseException as error:
            result["error"] = f"{type(error).__name__}: {error}"[:600]
            result["where"] = _where(error, folder)
            result["trace"] = traceback.format_exc()[-6000:]
    result.setdefault("losses", [])
    result["passes"], result["seconds"] = watch.passes, round(time.monotonic() - began, 1)
    result["printed"] = [float(n) for n in NUMBER.findall(printed.getvalue())][:2000]
    result["tail"] = printed.getvalue()[-1500:]
    return result


if __name__ == "__main__":
    planned, to = (Path(argument) for argument in sys.argv[1:])
    outcome = run(json.loads(planned.read_text()))
    to.write_text(json.dumps(outcome))
    sys.stdout.flush()
    os._exit(0)

"""Models and weights by their address, versions, and processes."""

from __future__ import annotations

import importlib
import math
import os
from pathlib import Path
from typing import Any

import gradd
import pytest

CONF = '''
dependencies = ["math"]


def scaled(n=1, *, by=2):
    """n, scaled."""
    return n * by


def _own():
    return 0
'''


def test_a_local_hubconf_is_called(T: Any, tmp_path: Path) -> None:
    (tmp_path / "hubconf.py").write_text(CONF)
    assert T.hub.load(str(tmp_path), "scaled", 3, source="local", by=5) == 15
    with pytest.raises(RuntimeError, match="Cannot find callable nothing in hubconf"):
        T.hub.load(str(tmp_path), "nothing", source="local")
    with pytest.raises(ValueError, match=r'Unknown source: "else"\. Allowed'):
        T.hub.load(str(tmp_path), "scaled", source="else")
    (tmp_path / "hubconf.py").write_text(CONF.replace("math", "not_there_at_all"))
    with pytest.raises(RuntimeError, match="Missing dependencies: not_there_at_all"):
        T.hub.load(str(tmp_path), "scaled", source="local")


def test_weights_at_a_file_url(T: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    T.save({"w": T.ones(2)}, str(tmp_path / "weights.pth"))
    url, kept = (tmp_path / "weights.pth").as_uri(), tmp_path / "kept"
    for _ in range(2):
        found = T.hub.load_state_dict_from_url(url, model_dir=str(kept), progress=False)
        assert found["w"].tolist() == [1.0, 1.0]
    assert capsys.readouterr().out.count("Downloading") == 1
    assert [f.name for f in kept.iterdir()] == ["weights.pth"]
    with pytest.raises(RuntimeError, match="invalid hash value"):
        T.hub.download_url_to_file(url, str(kept / "other"), "abc", progress=False)
    assert [f.name for f in kept.iterdir()] == ["weights.pth"]


def test_the_folder_of_what_was_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hub = gradd.hub
    monkeypatch.setattr(hub, "_set", [])
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert hub.get_dir() == str(tmp_path / "hub")
    hub.set_dir(tmp_path / "mine")
    assert hub.get_dir() == str(tmp_path / "mine")
    (tmp_path / "hubconf.py").write_text(CONF)
    assert hub.list(str(tmp_path), source="local") == ["scaled"]
    assert hub.help(str(tmp_path), "scaled", source="local") == "n, scaled."
    with pytest.raises(NotImplementedError, match="runs no code that it fetches"):
        hub.load("pytorch/vision", "resnet18")


def test_versions_are_told(T: Any) -> None:
    assert T.version.__version__ == T.__version__
    assert T.version.cuda is None
    assert not T.version.debug
    assert isinstance(T.__config__.show(), str)
    assert isinstance(T.__config__.parallel_info(), str)


def _write(i: int, folder: str) -> None:
    Path(folder, str(i)).write_text(str(math.factorial(i)))


def _fail(i: int) -> None:
    raise ValueError(f"no {i}")


def _leave(i: int) -> None:
    os._exit(3)


def test_processes_are_spawned(T: Any, tmp_path: Path) -> None:
    mp = importlib.import_module(f"{T.__name__}.multiprocessing")
    assert mp.start_processes(_write, (str(tmp_path),), nprocs=2, start_method="fork") is None
    assert sorted((f.name, f.read_text()) for f in tmp_path.iterdir()) == [("0", "1"), ("1", "1")]
    with pytest.raises(mp.ProcessRaisedException, match="ValueError: no 0"):
        mp.start_processes(_fail, nprocs=1, start_method="fork")
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with exit code 3"):
        mp.start_processes(_leave, nprocs=1, start_method="fork")
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    with pytest.raises(AssertionError):
        mp.set_sharing_strategy("else")


def test_a_spawned_process_computes(tmp_path: Path) -> None:
    mp = gradd.multiprocessing
    context = mp.spawn(_write, (str(tmp_path),), join=False)
    assert context is not None
    assert len(context.pids()) == 1
    assert context.join()
    assert (tmp_path / "0").read_text() == "1"
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() == "file_system"
    mp.set_sharing_strategy("file_descriptor")

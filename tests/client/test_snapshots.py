"""Session.snapshot, and sessions that begin at one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradd
import numpy as np
import pytest

from tests.faults.daemon import Daemon


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    daemon = Daemon(tmp_path_factory.mktemp("daemon"), "--no-auth")
    yield daemon.url
    daemon.drop()


class Training:
    """Regression under Adam by hand, with noise from the session's stream; its state has names."""

    def __init__(self, session: gradd.Session, begin: bool) -> None:
        self.session = session
        numbers = np.random.default_rng(3)
        self.x = gradd.from_numpy(numbers.standard_normal((16, 5), np.float32))
        if begin:
            gradd.manual_seed(5)
            weight = gradd.from_numpy(numbers.standard_normal((5, 2), np.float32)).requires_grad_()
            for name, made in (("w", weight), ("m", gradd.zeros(5, 2)), ("v", gradd.zeros(5, 2))):
                session[name] = made
        self.w, self.m, self.v = (session[name] for name in ("w", "m", "v"))

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.w.grad = None
            noise = 0.1 * gradd.randn(16, 2)
            loss = ((self.x @ self.w + noise) ** 2).mean()
            loss.backward()
            with gradd.no_grad():
                grad = self.w.grad
                assert grad is not None
                self.m.mul_(0.9).add_(grad, alpha=0.1)
                self.v.mul_(0.99).addcmul_(grad, grad, value=0.01)
                self.w.addcdiv_(self.m, self.v.sqrt() + 1e-6, value=-0.05)

    def bits(self) -> list[bytes]:
        return [t.detach().numpy().tobytes() for t in (self.w, self.m, self.v)]


@pytest.mark.parametrize("transport", ["stream", "http", "local"])
def test_a_training_forks(url: str, transport: str, tmp_path: Path) -> None:
    file = tmp_path / "half.safetensors"
    where: dict[str, Any] = (
        {"url": "local:"} if transport == "local" else {"url": url, "transport": transport}
    )
    with gradd.connect(session=f"one-{transport}", **where) as session:
        training = Training(session, begin=True)
        training.run(3)
        taken = session.snapshot(file)
        assert taken.bytes == file.stat().st_size
        assert session.snapshots() == []
        source = file
        if transport != "local":
            kept = session.snapshot()
            assert session.snapshots() == [kept]
            source = kept
        half = training.bits()
        training.run(2)
        ends = training.bits()
    with gradd.connect(session=f"two-{transport}", from_snapshot=source, **where) as session:
        other = Training(session, begin=False)
        assert other.bits() == half
        assert session.info().tensors < 10
        other.run(2)
        assert other.bits() == ends
    assert list(tmp_path.iterdir()) == [file]
    for name in ("one", "two"):
        gradd.delete_session(f"{name}-{transport}", where["url"])


def test_a_training_moves_to_another_daemon(url: str, tmp_path: Path) -> None:
    file = tmp_path / "half.safetensors"
    with gradd.connect("local:", session="undisturbed") as session:
        training = Training(session, begin=True)
        training.run(6)
        ends = training.bits()
    with gradd.connect(url, session="moving") as session:
        training = Training(session, begin=True)
        training.run(2)
        session.snapshot(file)
        training.run(1)
    (tmp_path / "other").mkdir()
    daemon = Daemon(tmp_path / "other", "--no-auth")
    try:
        with gradd.connect(daemon.url, session="moved", from_snapshot=file) as session:
            training = Training(session, begin=False)
            training.run(2)
            daemon.kill()
            training.run(2)
            assert training.bits() == ends
        with pytest.raises(gradd.ServerError, match="begun already"):
            gradd.connect(daemon.url, session="moved", from_snapshot=file)
    finally:
        daemon.drop()
    gradd.delete_session("moving", url)
    gradd.delete_session("undisturbed")


def test_the_file_has_the_names(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    with gradd.connect("local:", session="names") as session:
        x = gradd.tensor([1.0, 2.0], requires_grad=True)
        session["layer.weight"] = x
        (x * x).sum().backward()
        session.snapshot(tmp_path / "a.safetensors")
    found = safetensors.load_file(tmp_path / "a.safetensors")
    assert found["layer.weight"].tolist() == [1.0, 2.0]
    assert found["layer.weight.grad"].tolist() == [2.0, 4.0]
    gradd.delete_session("names")


def test_refusals(url: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs a name"):
        gradd.connect(url, from_snapshot=tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        gradd.connect(url, session="refused", from_snapshot=tmp_path / "a")
    with gradd.connect("local:", session="refused") as session:
        with pytest.raises(RuntimeError, match="give a path"):
            session.snapshot()
        with pytest.raises(FileNotFoundError):
            session.snapshot(tmp_path / "no folder" / "a")
        session.snapshot(tmp_path / "a")
        session["x"] = gradd.ones(1)
    with pytest.raises(gradd.ServerError, match="begun already"):
        gradd.connect("local:", session="refused", from_snapshot=tmp_path / "a")
    (tmp_path / "a").write_bytes(b"nothing")
    with pytest.raises(gradd.ServerError, match="no snapshot"):
        gradd.connect("local:", session="fresh", from_snapshot=tmp_path / "a")
    for name in ("refused", "fresh"):
        gradd.delete_session(name)

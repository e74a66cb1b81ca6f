"""``pytest --standin``: tests of this process's sessions, with the stand-in of CuPy as their device.

What asks a daemon is left out; tests that are of NumPy's device are excused, each with its
reason.
"""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.standin.sessions import sessions_there

#: by the beginning of a test's id: why it is not run
EXCUSED: dict[str, str] = {}
#: where a parametrized test has no session in this process
ELSEWHERE = frozenset({"torch", "stream", "http"})


def begin(config: pytest.Config) -> None:
    """Let all sessions of this process compute there until it ends."""
    stack = ExitStack()
    stack.enter_context(sessions_there())
    config.add_cleanup(stack.close)
    config.pluginmanager.register(Excuses(), "standin")


def reason(nodeid: str) -> str | None:
    """Why a test is excused; None where it is not."""
    return next((why for begins, why in EXCUSED.items() if nodeid.startswith(begins)), None)


class Excuses:
    """Deselects what has no session in this process, and skips what is excused."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Only tests of sessions of this process."""
        kept, left = [], []
        for item in items:
            (kept if _here(item) else left).append(item)
            if (why := reason(item.nodeid)) is not None:
                item.add_marker(pytest.mark.skip(reason=f"on the stand-in: {why}"))
        items[:] = kept
        config.hook.pytest_deselected(items=left)


def _here(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    params = callspec.params.values() if callspec is not None else ()
    return not any(isinstance(p, str) and p in ELSEWHERE for p in params) and "daemon" not in getattr(
        item, "fixturenames", ()
    )

"""PyTorch's tests that gradd does not pass, and why: docs/parity.md lists them (`make parity`)."""

from __future__ import annotations

#: how many pass at least
AT_LEAST = 568

_GROUPS: tuple[tuple[str, str], ...] = ()

#: by test: the reason
REASONS: dict[str, str] = {test: reason for reason, tests in _GROUPS for test in tests.split()}

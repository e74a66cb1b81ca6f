"""Accounts of bytes."""

from __future__ import annotations

import gc
import threading

from gradd_engine.data import Account, Lease, collect


class Ring:
    """Holds bytes, and itself."""

    def __init__(self, account: Account) -> None:
        account.take(8)
        self.held = Lease(account, 8)
        self.itself = self


class Slow:
    """Its collection ends when it may."""

    def __init__(self, begun: threading.Event, may: threading.Event) -> None:
        self.begun, self.may, self.itself = begun, may, self

    def __del__(self) -> None:
        self.begun.set()
        self.may.wait()


def test_bytes_in_a_cycle_come_back_though_another_thread_collects() -> None:
    begun, may = threading.Event(), threading.Event()

    def collecting() -> None:
        Slow(begun, may)
        gc.collect()

    other = threading.Thread(target=collecting)
    other.start()
    begun.wait()
    account = Account(100)
    Ring(account)
    gc.collect()
    assert account.used == 8  # it has collected nothing
    waiting = threading.Timer(0.05, may.set)
    waiting.start()
    collect()
    assert account.used == 0
    other.join()
    waiting.join()


def test_a_freeze_in_between_does_not_hang_it() -> None:
    """`gc.freeze` exempts all there is from collections, the mark that is waited for too."""
    freezes = [gc.freeze]

    def freeze(phase: str, _: object) -> None:
        if phase == "start" and freezes:
            freezes.pop()()

    gc.callbacks.append(freeze)
    try:
        collect()
    finally:
        gc.callbacks.remove(freeze)
        gc.unfreeze()
    assert not freezes

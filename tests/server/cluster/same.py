"""What holds of an engine process however its host is reached; a module has its own fixture `placement`."""

from __future__ import annotations

from tests.server.cluster import test_links as plain
from tests.server.cluster.test_links import OverOneHost


class SameOverOneHost:
    """To be derived from by a class of tests."""

    def test_a_scenario_equals_inline(self, placement: OverOneHost) -> None:
        plain.test_a_scenario_over_a_host_equals_inline(placement)

    def test_large_frames_go_both_ways(self, placement: OverOneHost) -> None:
        plain.test_large_frames_go_both_ways(placement)

    def test_an_order_reaches_a_batch_that_runs(self, placement: OverOneHost) -> None:
        plain.test_an_order_reaches_a_batch_that_runs(placement)

    def test_a_process_that_dies_is_seen_at_once(self, placement: OverOneHost) -> None:
        plain.test_a_process_that_dies_is_seen_at_once(placement)

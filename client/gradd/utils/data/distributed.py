"""The sampler of one of several processes, as torch.utils.data.distributed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..._surface import DRAWING, Generator
from .sampler import Sampler


class DistributedSampler(Sampler[int]):
    """The share of one process, `rank`, of `num_replicas`, each with equally many samples
    (torch.utils.data.DistributedSampler). Without them the process is the only one. `drop_last`: leave
    samples out to make shares equal, where otherwise some come twice. ValueError for a rank that is none.
    """

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True,
        seed: int = 0, drop_last: bool = False,
    ) -> None:  # fmt: skip
        self.num_replicas = 1 if num_replicas is None else num_replicas
        self.rank = 0 if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(
                f"Invalid rank {self.rank}, rank should be in the interval [0, {self.num_replicas - 1}]"
            )
        self.dataset = dataset
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        shared = len(dataset) / self.num_replicas
        self.num_samples = math.floor(shared) if drop_last else math.ceil(shared)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order = list(range(count))
        if self.shuffle:
            stream = Generator().manual_seed(self.seed + self.epoch)
            order = DRAWING["randperm"](count, generator=stream).tolist()
        if not self.drop_last:  # begin again until all have as many
            order = order * math.ceil(self.total_size / max(count, 1))
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Shuffle as that epoch does."""
        self.epoch = epoch

"""torch.utils.data, line by line under torch and under gradd: values, classes and messages."""

from __future__ import annotations

import collections
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest

Named = collections.namedtuple("Named", "a b")

LINES = [
    # datasets
    "len(ds), ds[3], ds[-1], ds[2:4], ds[[1, 5]], D.TensorDataset(x)[1]",
    "len(ds + ds), (ds + ds)[11], (ds + ds)[-12], type(ds + ds).__name__, (ds + ds).cumulative_sizes",
    "[D.ConcatDataset([[1, 2], [3], (4, 5)])[i] for i in (0, 2, 4, -1, -5)]",
    "list(D.ChainDataset([count(3), count(2)]))",
    "list(count(2) + count(1)), len(D.ChainDataset([counted(3)]))",
    "D.StackDataset([1, 2], 'ab')[1], D.StackDataset(a=ds, b=range(10))[3], len(D.StackDataset(ds))",
    "D.StackDataset(D.Subset([5, 6, 7], [2, 0]), 'ab').__getitems__([1, 0])",
    "D.StackDataset(p=a3).__getitems__([2])",
    "D.Subset(ds, [1, 2, 5])[[0, 2]], D.Subset(ds, [3, 1])[1]",
    "len(D.Subset(ds, [3, 1])), D.Subset('abc', [2])[0]",
    "D.Subset(D.Subset('abcdef', [5, 4, 0]), [2, 0]).__getitems__([0, 1])",
    "[len(p) for p in D.random_split(ds, [3, 7])]",
    "[len(p) for p in D.random_split(range(11), [0.3, 0.3, 0.4])]",
    "sorted(i for p in D.random_split(range(9), [0.5, 0.5]) for i in p.indices)",
    "D.random_split([], [0])[0].indices",
    "[len(p) for p in D.random_split(range(3), [0.1, 0.1, 0.8])]",
    "D.ConcatDataset([a3]).cummulative_sizes",
    # samplers
    "list(D.SequentialSampler(a3)), len(D.SequentialSampler(a3))",
    "sorted(D.RandomSampler(range(7))), len(D.RandomSampler(range(7))), D.RandomSampler(a3).num_samples",
    "sorted(D.RandomSampler(range(3), num_samples=6)), len(list(D.RandomSampler(range(3), num_samples=5)))",
    "len(list(D.RandomSampler(a3, True, 50))), set(D.RandomSampler(a3, True, 99)) <= {0, 1, 2}",
    "sorted(D.SubsetRandomSampler([4, 2, 9])), len(D.SubsetRandomSampler([4, 2, 9]))",
    "list(D.WeightedRandomSampler([0.0, 2.0, 0.0], 4)), sorted(D.WeightedRandomSampler([1, 2], 2, False))",
    "list(D.BatchSampler(range(10), 4, True)), list(D.BatchSampler(range(10), 4, False)), "
    "[len(D.BatchSampler(range(10), 4, drop)) for drop in (True, False)]",
    "[list(D.DistributedSampler(range(10), 3, r, shuffle=False)) for r in range(3)]",
    "[list(D.DistributedSampler(range(10), 3, r, False, drop_last=True)) for r in range(3)]",
    "list(D.DistributedSampler(range(2), 7, 6, False)), len(D.DistributedSampler(range(10), 4, 0))",
    "sorted(i for r in range(2) for i in D.DistributedSampler(range(6), 2, r, seed=5))",
    # batches
    "D.default_collate([(1, 2.5, 'a', b'b', True), (3, 4.5, 'c', b'd', False)])",
    "D.default_collate([Named(1, a3), Named(2, a3)]), D.default_collate([{'a': 1, 'b': [1, 2]}] * 2)",
    "D.default_collate([OD(a=1), OD(a=2)])",
    "D.default_collate([range(2), range(2)]), D.default_collate((1, 2))",
    "D.default_collate([np.float32(1), np.float32(2)]), D.default_collate([np.float64(1)]), "
    "D.default_collate([np.bool_(True)]), D.default_collate([np.array(1.0), np.array(2.0)])",
    "D.default_collate([a3, a3]), D.default_collate([a3, a3.astype(np.float32)]), D.default_collate([x, x])",
    "D.default_collate([1, 2.5]), D.default_collate([1.5, 2]), D.default_collate([[], []])",
    "D.default_collate([x, x.double()]), D.default_collate([x[0, 0], x[1, 1]])",
    "D.default_convert([1, a3, {'a': np.float32(1)}, ('x', a3), Named(a3, "
    "2), np.array('a'), np.bool_(True)])",
    "D.default_convert(3.5), D.default_convert('text'), D.default_convert(x) is x, D.get_worker_info()",
    "D._utils.collate.collate([1j, 2j], collate_fn_map={complex: lambda b, *, collate_fn_map: tuple(b)})",
    "D.dataloader.default_collate is D.default_collate",
    "D.sampler.Sampler is D.Sampler, D.Dataset[int] is not None",
    # loaders
    "list(D.DataLoader(ds, batch_size=4)), list(D.DataLoader(ds, batch_size=4, drop_last=True))",
    "[len(D.DataLoader(ds, **o)) for o in ({}, {'batch_size': 3}, {'batch_size': 3, 'drop_last': True})]",
    "len(D.DataLoader(ds, batch_size=None)), list(D.DataLoader(ds, batch_size=None, sampler=[1, 3]))",
    "list(D.DataLoader(ds, batch_sampler=[[1, 2], [5]])), len(D.DataLoader(ds, batch_sampler=[[1, 2], [5]]))",
    "list(D.DataLoader([1, 2, 3], collate_fn=lambda b: b, batch_size=2))",
    "list(D.DataLoader([], shuffle=False))",
    "list(D.DataLoader(D.Subset(ds, [3, 1, 2]), batch_size=2))",
    "list(D.DataLoader(ds + ds, sampler=[1, 15, 3], batch_size=3))",
    "list(D.DataLoader(ds, sampler=[-1, -2], batch_size=2))",
    "list(D.DataLoader(ds, sampler=np.array([2, 3])))",
    "list(D.DataLoader(D.StackDataset(a=ds, b=ds), batch_size=5))",
    "list(D.DataLoader(D.StackDataset(ds, a10), batch_size=5))",
    "sorted(int(i) for b in D.DataLoader(range(9), 2, shuffle=True) for i in b)",
    "list(D.DataLoader(count(5), batch_size=2)), list(D.DataLoader(count(5), batch_size=2, drop_last=True))",
    "list(D.DataLoader(count(3), batch_size=None))",
    "list(D.DataLoader(ds, sampler=x.long()[0], batch_size=3))",
    "len(D.DataLoader(counted(3), batch_size=2)), D.DataLoader(ds).batch_size, D.DataLoader(ds).drop_last",
    "[type(s).__name__ for l in (D.DataLoader(ds), D.DataLoader(ds, "
    "shuffle=True)) for s in (l.sampler, l.batch_sampler)]",
    "D.DataLoader(ds, num_workers=2).prefetch_factor",
    "D.DataLoader(ds).prefetch_factor, len(iter(D.DataLoader(ds)))",
    "over(D.DataLoader(counted(3)))",
]
RAISES = [
    "D.TensorDataset(x, x[0])",
    "D.StackDataset()",
    "D.StackDataset([1], [1, 2])",
    "D.StackDataset([1], a=[1])",
    "D.ConcatDataset([])",
    "D.ConcatDataset([count(1)])",
    "D.ConcatDataset([ds])[-11]",
    "D.ConcatDataset([ds])[10]",
    "next(iter(D.ChainDataset([ds])))",
    "len(D.ChainDataset([ds]))",
    "len(D.ChainDataset([count(1)]))",
    "D.random_split(ds, [3, 3])",
    "D.random_split(ds, [1.5, -0.5])",
    "D.random_split(ds, [0.2, 0.2])",
    "D.Dataset()[0]",
    "len(D.Dataset())",
    "D.IterableDataset()",
    "iter(D.Sampler())",
    "D.RandomSampler(ds, replacement=3)",
    "D.RandomSampler(ds, num_samples=0)",
    "D.RandomSampler(ds, num_samples=1.5)",
    "D.RandomSampler([])",
    "D.WeightedRandomSampler([1, 2], 0)",
    "D.WeightedRandomSampler([1, 2], True)",
    "D.WeightedRandomSampler([1, 2], 1, 2)",
    "D.WeightedRandomSampler([[1, 2]], 1)",
    "D.BatchSampler([1], 0, False)",
    "D.BatchSampler([1], 1.0, False)",
    "D.BatchSampler([1], 1, 3)",
    "D.DistributedSampler(ds, num_replicas=2, rank=2)",
    "D.DistributedSampler(ds, 2, -1)",
    "D.DataLoader(ds, num_workers=-1)",
    "D.DataLoader(ds, timeout=-1)",
    "D.DataLoader(ds, prefetch_factor=2)",
    "D.DataLoader(ds, num_workers=1, prefetch_factor=-1)",
    "D.DataLoader(ds, persistent_workers=True)",
    "D.DataLoader(count(1), shuffle=True)",
    "D.DataLoader(count(1), sampler=[1])",
    "D.DataLoader(count(1), batch_sampler=[[1]])",
    "D.DataLoader(ds, sampler=[1], shuffle=True)",
    "D.DataLoader(ds, batch_sampler=[[1]], batch_size=3)",
    "D.DataLoader(ds, batch_size=None, drop_last=True)",
    "D.DataLoader(ds, batch_size=0)",
    "D.DataLoader([], shuffle=True)",
    "D.DataLoader(ds, multiprocessing_context='fork')",
    "D.DataLoader(ds, num_workers=1, multiprocessing_context='foo')",
    "D.DataLoader(ds, num_workers=1, multiprocessing_context=3)",
    "setattr(D.DataLoader(ds), 'batch_size', 3)",
    "setattr(D.DataLoader(ds), 'dataset', 3)",
    "len(D.DataLoader(count(1)))",
    "D.default_collate([x[0], x[0, :2]])",
    "D.default_collate([a3, a3[:2]])",
    "D.default_collate([object()])",
    "D.default_collate([None])",
    "D.default_collate([np.array('a')])",
    "D.default_collate([np.array([None])])",
    "D.default_collate([[1], [1, 2]])",
    "D.default_collate([{'a': 1}, {'b': 2}])",
    "D.default_collate([1, 'a'])",
    "D.default_collate([])",
    "list(D.DataLoader({'a': 1}))",
    "list(D.DataLoader(ds, sampler=[10]))",
    "list(D.DataLoader(D.Subset(ds, [10])))",
]


def value(T: Any, line: str) -> Any:
    class Count(T.utils.data.IterableDataset):  # type: ignore[misc]
        def __init__(self, n: int) -> None:
            self.n = n

        def __iter__(self) -> Iterator[int]:
            return iter(range(self.n))

    class Counted(Count):
        def __len__(self) -> int:
            return self.n - 1

        def __repr__(self) -> str:
            return "Counted"

    def over(loader: Any) -> Any:
        """What a loader gives past its length."""
        return len(loader), list(loader)

    x = T.tensor([[0.5, 2.0, 1.0], [3.0, 4.0, 5.5]])
    names = {
        "T": T, "D": T.utils.data, "np": np, "x": x, "Named": Named, "count": Count, "counted": Counted,
        "ds": T.utils.data.TensorDataset(T.arange(10.0), T.arange(20).reshape(10, 2)), "over": over,
        "a3": np.arange(3.0), "a10": np.arange(10), "OD": collections.OrderedDict,
    }  # fmt: skip
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = eval(line, names)
    return repr((found, [(w.category.__name__, str(w.message)) for w in told]))


@pytest.mark.oracle
@pytest.mark.parametrize("line", LINES)
def test_a_line_gives_the_same(oracle: Callable[..., Any], line: str) -> None:
    with gradd.connect("local:"):
        assert value(gradd, line) == oracle(lambda torch: value(torch, line))


@pytest.mark.oracle
@pytest.mark.parametrize("line", RAISES)
def test_a_line_raises_the_same(oracle: Callable[..., Any], line: str) -> None:
    def said(T: Any) -> str:
        with pytest.raises((TypeError, ValueError, LookupError, AssertionError, RuntimeError)) as found:
            value(T, line)
        return f"{found.type.__name__}: {found.value}"

    with gradd.connect("local:"):
        assert said(gradd) == oracle(said)

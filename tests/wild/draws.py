"""The same random numbers for both sides: NumPy draws them, by the kind and shape asked for and how often.

The streams of torch and gradd are two. Where every draw that a script makes is one of these, both sides get
the same numbers, and their losses can be compared one by one.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np


class Draws:
    """Replaces the functions of `torch` that draw by ones that ask NumPy."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.seed = 0
        self.asked: Counter[Any] = Counter()

    def reseed(self, seed: Any) -> None:
        """As after manual_seed."""
        self.seed = abs(int(seed)) % 2**63
        self.asked.clear()

    def of(self, kind: str, shape: Any) -> np.random.Generator:
        """A stream of its own for the n-th draw of its kind and shape."""
        key = (kind, tuple(int(n) for n in shape))
        self.asked[key] += 1
        return np.random.default_rng([self.seed, zlib.crc32(kind.encode()), *key[1], self.asked[key]])

    def written(self, tensor: Any, values: Any) -> Any:
        """`values` in `tensor`, in place."""
        with self.torch.no_grad():
            drawn = np.ascontiguousarray(values).reshape(tuple(tensor.shape))
            return tensor.copy_(self.torch.from_numpy(drawn).to(tensor.dtype))

    # -- methods -----------------------------------------------------------------------------------

    def uniform_(self, tensor: Any, a: float = 0, b: float = 1, **_: Any) -> Any:
        return self.written(tensor, self.of("uniform", tensor.shape).uniform(a, b, tuple(tensor.shape)))

    def normal_(self, tensor: Any, mean: float = 0, std: float = 1, **_: Any) -> Any:
        return self.written(tensor, self.of("normal", tensor.shape).normal(mean, std, tuple(tensor.shape)))

    def exponential_(self, tensor: Any, lambd: float = 1, **_: Any) -> Any:
        drawn = self.of("exponential", tensor.shape).exponential(1 / lambd, tuple(tensor.shape))
        return self.written(tensor, np.maximum(drawn, 1e-30))

    def bernoulli_(self, tensor: Any, p: Any = 0.5, **_: Any) -> Any:
        p = p.detach().cpu().numpy() if isinstance(p, self.torch.Tensor) else p
        return self.written(tensor, self.of("bernoulli", tensor.shape).random(tuple(tensor.shape)) < p)

    # -- functions ---------------------------------------------------------------------------------

    def empty(self, *size: Any, **options: Any) -> tuple[Any, bool]:
        """A tensor to write into, and whether it asks for gradients."""
        options.pop("generator", None)
        given = options.pop("size", None)
        size = size if given is None else tuple(given)
        asks = options.pop("requires_grad", False)
        return self.torch.empty(*size, **options), asks

    def filled(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def draw(*size: Any, out: Any = None, **options: Any) -> Any:
            made, asks = self.empty(*size, **options)
            made = method(made) if out is None else out.copy_(method(made))
            return made.requires_grad_() if asks else made

        return draw

    def like(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def draw(tensor: Any, **options: Any) -> Any:
            asks = options.pop("requires_grad", False)
            made = method(self.torch.empty_like(tensor.detach(), **options))
            return made.requires_grad_() if asks else made

        return draw

    def randint(self, *args: Any, **options: Any) -> Any:
        given = list(args)
        size = options.pop("size", None) or given.pop()
        high = options.pop("high", None) if "high" in options else given.pop()
        low = options.pop("low", 0) if "low" in options or not given else given.pop()
        options = {"dtype": self.torch.int64, **options}
        made, _ = self.empty(*size, **options)
        return self.written(made, self.of("randint", size).integers(int(low), int(high), tuple(size)))

    def randperm(self, n: int, **_: Any) -> Any:
        return self.torch.from_numpy(self.of("randperm", (n,)).permutation(n))

    def bernoulli(self, tensor: Any, p: Any = None, **_: Any) -> Any:
        with self.torch.no_grad():
            return self.bernoulli_(self.torch.empty_like(tensor), tensor if p is None else p)

    def multinomial(self, tensor: Any, num_samples: int, replacement: bool = False, **_: Any) -> Any:
        p = tensor.detach().cpu().double().numpy()
        stream = self.of("multinomial", p.shape)
        rows = [
            stream.choice(row.size, num_samples, replace=replacement, p=row / row.sum())
            for row in p.reshape(-1, p.shape[-1])
        ]
        return self.torch.from_numpy(np.stack(rows).reshape(*p.shape[:-1], num_samples))

    def normal(self, mean: Any, std: Any = 1.0, size: Any = None, **options: Any) -> Any:
        if size is not None:
            made, asks = self.empty(*size, **options)
            made = self.normal_(made, mean, std)
            return made.requires_grad_() if asks else made
        shaped = [x for x in (mean, std) if isinstance(x, self.torch.Tensor)]
        like = (mean + std) if len(shaped) == 2 else shaped[0]
        with self.torch.no_grad():
            return self.normal_(self.torch.empty_like(like)) * std + mean

    def dropout(self, whole: int) -> Callable[..., Any]:
        """Dropout of elements, or of all that is past the first `whole` dimensions."""

        def drop(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
            if not training or p == 0:
                return x
            shape = tuple(x.shape) if not whole else (*x.shape[:whole], *(1 for _ in x.shape[whole:]))
            kept = self.of("dropout", shape).random(shape) >= p
            mask = self.torch.from_numpy(kept / (1 - p) if p < 1 else kept * 0.0).to(x.dtype)
            return x.mul_(mask) if inplace else x * mask

        return drop

    def put(self) -> None:
        """Replace what draws."""
        torch, tensor = self.torch, self.torch.Tensor
        manual_seed = torch.manual_seed

        def reseed(seed: Any) -> Any:
            self.reseed(seed)
            return manual_seed(seed)

        torch.manual_seed = reseed
        for name in ("uniform_", "normal_", "exponential_", "bernoulli_"):
            ours = getattr(self, name)
            setattr(tensor, name, lambda t, *args, _ours=ours, **options: _ours(t, *args, **options))
        tensor.bernoulli = lambda t, *args, **options: self.bernoulli(t, *args, **options)
        tensor.multinomial = lambda t, *args, **options: self.multinomial(t, *args, **options)
        torch.rand, torch.randn = self.filled(self.uniform_), self.filled(self.normal_)
        torch.rand_like, torch.randn_like = self.like(self.uniform_), self.like(self.normal_)
        for name in ("randint", "randperm", "bernoulli", "multinomial", "normal"):
            setattr(torch, name, getattr(self, name))
        functional = torch.nn.functional
        functional.dropout = self.dropout(0)
        for name in ("dropout1d", "dropout2d", "dropout3d"):
            setattr(functional, name, self.dropout(2))
        for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d"):
            drop = getattr(functional, name.lower())
            getattr(torch.nn, name).forward = lambda layer, x, _drop=drop: _drop(
                x, layer.p, layer.training, layer.inplace
            )
        sampler = torch.utils.data.RandomSampler
        itself = sampler.__iter__

        def order(asked: Any) -> Any:  # torch asks for one permutation more than it gives
            if asked.replacement or asked.num_samples != len(asked.data_source):
                return itself(asked)
            return iter(self.randperm(asked.num_samples).tolist())

        sampler.__iter__ = order
        if torch.__name__ == "gradd":  # what its samplers ask
            from gradd._surface import DRAWING

            DRAWING.update(randperm=self.randperm, multinomial=self.multinomial)


def close(a: list[float], b: list[float], tolerance: float) -> bool:
    """Whether two lists of numbers are alike: as many, and each within `tolerance` of the other's."""
    return len(a) == len(b) and all(
        math.isclose(x, y, rel_tol=tolerance, abs_tol=tolerance) or (math.isnan(x) and math.isnan(y))
        for x, y in zip(a, b, strict=True)
    )

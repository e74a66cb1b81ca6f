"""The calls that PyTorch's operator database lists as errors, on both sides."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

#: how many of the words of PyTorch's message ours has at least
SHARE = 0.6

MANY = "an array has at most 64 dimensions, so there is no tensor of 65 to begin with"
PYTHON = "a method called on a number, not on a tensor: the words are Python's own, of its C methods"
FIRST = "the result is computed before it is stored: reading what is written to is no error"
INSIDE = "PyTorch's words are those of an assertion inside it, or of another function's"
ONE_RULE = "out= has one rule for dtypes here, that of element-wise operations"
#: operations that take no out= here
NO_OUT = {"arange", "aminmax", "bernoulli", "cat", "gather", "kthvalue", "masked_select"}
#: (op, number of the error input; None: all of them) -> why it cannot be the same
CANNOT: dict[tuple[str, int | None], str] = {
    **{(key, n): MANY for key in ("aminmax", "amax", "amin") for n in (1, 2)},
    **{("take", n): FIRST for n in (1, 2)},
    **dict.fromkeys([("complex", 2), ("multinomial", 2), ("amax", 5), ("amin", 5)], ONE_RULE),
    **dict.fromkeys([("narrow_copy", 1), ("narrow_copy", 6)], INSIDE),
    **{("gradient", n): "a session has one device" for n in (3, 10, 17)},
    **{(f"__{op}__", None): PYTHON for op in ("radd", "rdiv", "rmul", "rand", "ror", "rxor")},
}


def function(module: Any, key: str) -> Any:
    """What `key` names in `module`, or None: a function, else a method."""
    name, _, variant = key.partition(":")
    if variant == "in_place":
        return getattr(module.Tensor, f"{name}_", None)
    place: Any = module
    for part in name.split("."):
        place = getattr(place, part, None)
    return place if callable(place) else getattr(module.Tensor, name, None)


def translated(gradd: Any, torch: Any, x: Any, made: dict[int, Any]) -> Any:
    """An argument for gradd: tensors with the same values and geometry, dtypes by name, all else as it is."""
    if isinstance(x, torch.Tensor):
        if id(x) not in made:
            made[id(x)] = tensor(gradd, torch, x)
        return made[id(x)]
    if isinstance(x, torch.dtype):
        return getattr(gradd, str(x).removeprefix("torch."))
    if isinstance(x, torch.device):
        return str(x)
    if isinstance(x, (list, tuple)) and type(x) in (list, tuple):
        return type(x)(translated(gradd, torch, e, made) for e in x)
    if isinstance(x, dict):
        return {k: translated(gradd, torch, v, made) for k, v in x.items()}
    return x


def tensor(gradd: Any, torch: Any, x: Any) -> Any:
    """The same tensor for gradd: values, dtype, strides, whether it requires gradients."""
    values = x.detach()
    flat = values
    if not values.is_contiguous():
        flat = values.as_strided((int(values.untyped_storage().nbytes() // values.element_size()),), (1,), 0)
    dtype = getattr(gradd, str(x.dtype).removeprefix("torch."))
    wide = flat.float() if x.dtype in (torch.bfloat16, torch.float16) else flat
    made = gradd.tensor(wide.resolve_conj().resolve_neg().numpy(), dtype=dtype)
    if flat is not values:
        made = made.as_strided(tuple(x.shape), tuple(x.stride()), x.storage_offset())
    return made.requires_grad_() if x.requires_grad else made


def raised(fn: Any, sample: Any) -> Exception | None:
    """What the call raises, or None."""
    first, args, kwargs = sample
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = fn(first, *args, **kwargs)
            if hasattr(found, "tolist") and hasattr(found, "_session"):
                found.tolist()
        except Exception as error:
            return error
    return None


def words(text: str) -> set[str]:
    """The words and numbers of a message."""
    return set(re.findall(r"[a-z_]{3,}|\d+", text.lower()))


def share(want: str, got: str) -> float:
    """How many of the words of `want` are in `got`."""
    wanted = words(want.partition("\n")[0])
    return len(wanted & words(got)) / len(wanted) if wanted else 1.0


def differences(gradd: Any, torch: Any, key: str, inputs: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """The error inputs of an operation that raise otherwise, and how."""
    fn, theirs = function(gradd, key), function(torch, key)
    for number, one in enumerate(inputs):
        s = one.sample_input
        if "out" in s.kwargs and key in NO_OUT:
            continue
        want = raised(theirs, (s.input, s.args, s.kwargs))
        if want is None:
            continue
        made: dict[int, Any] = {}
        try:
            sample = tuple(translated(gradd, torch, x, made) for x in (s.input, s.args, s.kwargs))
        except Exception as error:
            yield number, f"cannot be said: {error!r} ({want!r})"
            continue
        got = raised(fn, sample)
        if got is None:
            yield number, f"nothing, for {want!r}"
        elif not isinstance(got, type(want)) and type(got).__name__ != type(want).__name__:
            yield number, f"{got!r} for {want!r}"
        elif share(str(want), str(got)) < SHARE:
            yield number, f"{got!r} says other than {want!r}"

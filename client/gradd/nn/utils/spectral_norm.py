"""A weight over its largest singular value, by power iteration (torch.nn.utils.spectral_norm).

https://arxiv.org/abs/1802.05957; see also `gradd.nn.utils.parametrizations.spectral_norm`.
"""

from __future__ import annotations

from typing import Any

from gradd_engine.graph import no_grad

from ..._surface import namespace
from ..conv import _ConvTranspose
from ..functional import normalize
from ..parameter import Parameter, is_lazy

__all__ = [
    "SpectralNorm", "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook", "remove_spectral_norm",
    "spectral_norm",
]  # fmt: skip

_NEEDED = "Expected n_power_iterations to be positive, but got n_power_iterations={}"


def output_dim(module: Any, dim: int | None) -> int:
    """`dim`, or the dimension of the weight's outputs."""
    return dim if dim is not None else int(isinstance(module, _ConvTranspose))


def as_matrix(weight: Any, dim: int) -> Any:
    """The weight as a matrix whose rows are `dim`."""
    return weight.movedim(dim, 0).flatten(1) if dim else weight.flatten(1)


class SpectralNorm:
    """A forward pre-hook that computes the weight from ``<name>_orig`` and the vectors ``_u`` and ``_v``."""

    _version = 1

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        if n_power_iterations <= 0:
            raise ValueError(_NEEDED.format(n_power_iterations))
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """The weight as a matrix whose rows are `dim`."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """The weight over its norm, after further iterations if `do_power_iteration`."""
        weight, u, v = (getattr(module, self.name + part) for part in ("_orig", "_u", "_v"))
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(normalize(matrix.mv(v), dim=0, eps=self.eps))
                # The graph keeps them as they are now, for passes after further iterations.
                u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for part in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + part)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def solve_for_v(self, matrix: Any, u: Any, sigma: Any) -> Any:
        """The vector that a state dictionary of old has not, from the others and the norm."""
        v = (matrix.t().mm(matrix).pinverse() @ matrix.t() @ u.unsqueeze(1)).squeeze(1)
        return v.mul_(sigma / u.dot(matrix.mv(v)))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Replace the weight of `module`; RuntimeError if that was done already."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        made = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run "
                "the dummy forward before applying spectral normalization"
            )
        u, v = drawn(as_matrix(weight, dim), eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(made)
        module._register_state_dict_hook(SpectralNormStateDictHook(made))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(made))
        return made


def drawn(matrix: Any, eps: float) -> tuple[Any, Any]:
    """Random unit vectors, of as many elements as the matrix has rows, and columns."""
    randn = namespace("")["randn"]
    with no_grad():
        u, v = (normalize(randn(n, dtype=matrix.dtype), dim=0, eps=eps) for n in matrix.shape)
    return u, v


class SpectralNormLoadStateDictPreHook:
    """Makes what state dictionaries of PyTorch before 1.0 do not have."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        version = local_metadata.get("spectral_norm", {}).get(self.fn.name + ".version")
        if version is not None and version >= 1:
            return
        key = prefix + self.fn.name
        if (
            version is None
            and all(key + part in state_dict for part in ("_orig", "_u", "_v"))
            and key not in state_dict
        ):
            return
        missing = [key + part for part in ("_orig", "", "_u") if key + part not in state_dict]
        if missing:
            missing_keys.extend(missing if strict else [])
            return
        with no_grad():
            original = state_dict[key + "_orig"]
            sigma = (original / state_dict.pop(key)).mean()
            matrix = self.fn.reshape_weight_to_matrix(original)
            state_dict[key + "_v"] = self.fn.solve_for_v(matrix, state_dict[key + "_u"], sigma)


class SpectralNormStateDictHook:
    """Says in a state dictionary's metadata which version wrote it."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Replace a weight by itself over its largest singular value, which each training forward refines.

    `dim`: the dimension of the outputs, 0, or 1 for transposed convolutions. Returns `module`.
    """
    SpectralNorm.apply(module, name, n_power_iterations, output_dim(module, dim), eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Undo `spectral_norm`; ValueError if there is none of that name. Returns `module`."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for hooks in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
        for number, hook in list(hooks.items()):
            if getattr(hook, "fn", None) is not None and hook.fn.name == name:
                del hooks[number]
    return module

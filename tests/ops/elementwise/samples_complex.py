"""Samples of real and imaginary parts, conjugates, and complex tensors made of two."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

_Z = V([[1 + 2j, -1j], [0.5 + 0j, 2 - 1j]], "complex128")

SAMPLES = {
    **{
        name: [
            S(T(2, 3, low=0.2), T(3)).dtypes("float32 int64"),
            S(T(2), T(2, dtype="float32")).fails(),
            S(I([1]), I([2])).fails(),
        ]
        for name in ("complex", "polar")
    },
    "conj": [S(_Z).no_layouts(), S(T(2, 3)).no_grad()],
    "resolve_conj": [
        S(_Z).no_grad(),
        S(_Z).calls(lambda x: x.conj().resolve_conj()).torch(lambda torch, x: x.conj().resolve_conj()),
    ],
    "resolve_neg": [S(_Z).no_grad()],
    "real": [S(_Z), S(T(2, 3)).no_grad()],
    "imag": [
        S(_Z),
        S(T(2, 3)).fails().dtypes(),
    ],
    "view_as_real": [S(_Z), S(T(2, 3)).fails().dtypes()],
    "view_as_complex": [
        S(T(3, 2)).dtypes("float32").no_layouts(),
        S(T(3)).fails(),
        S(T()).fails(),
        S(T(3, 2, dtype="float32")).no_grad().no_layouts(),
    ],
    "real_parts": [S(_Z).torch(lambda torch, x: torch.view_as_real(x))],
    "complex_pairs": [
        S(T(3, 2)).torch(lambda torch, x: torch.view_as_complex(x)).dtypes("float32").no_layouts()
    ],
    "adjoint": [S(_Z), S(T(2, 3))],
    "is_conj": [S(_Z), S(_Z).calls(lambda x: x.conj().is_conj()).torch(lambda torch, x: x.conj().is_conj())],
    "is_neg": [S(_Z)],
    "is_complex": [S(_Z), S(T(2))],
    "conj_physical": [S(T(2, 3)).complex_too().no_graph().no_layouts()],
}

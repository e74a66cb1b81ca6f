"""Samples of sums of products."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    "einsum": [
        S("ij,jk->ik", T(2, 3), T(3, 4)).complex_too(),
        S("ij,ij->ij", T(2, 3), T(2, 3)),
        S("ij->ji", T(2, 3)),
        S("ii->i", T(3, 3)),
        S("ij->", T(2, 3)),
        S("ij->j", T(2, 3)),
        S("bij,bjk->bik", T(2, 2, 3), T(2, 3, 2)),
        S("bhid,bhjd->bhij", T(2, 2, 3, 2), T(2, 2, 4, 2)),
        S("i,j->ij", T(2), T(3)),
        S("i,i->", T(3), T(3)),
        S("...ij,jk->...ik", T(2, 2, 3), T(3, 4)),
        S("ij,jk,kl->il", T(2, 3), T(3, 4), T(4, 2)),
        S("iij->ij", T(2, 2, 3)),
        S("ij,k->", T(2, 3), T(4)),
        S("ij,jk->ki", T(2, 3), T(3, 4)),
        S("bqhd,bkhd->bhqk", T(2, 3, 2, 2), T(2, 4, 2, 2)),
        S("bhqk,bkhd->bqhd", T(2, 2, 3, 4), T(2, 4, 2, 2)),
        S("ij,jk", T(2, 3), T(3, 4)),
        S("ba", T(2, 3)),
        S("...i,...i->...", T(2, 1, 3), T(4, 3)),
        S("ij,j->i", T(2, 3), T(1)),
        S("...ij->ij", T(2, 2, 3)),
        S("i,j,k->ijk", T(2), T(3), T(2)),
        S("aij,bjk->iabk", T(2, 3, 2), T(3, 2, 2)),
        S("aij,bjk->bika", T(2, 3, 2), T(3, 2, 2)),
        S("aij,bjk->bkia", T(2, 3, 2), T(3, 2, 2)),
        S("aijk,kj->ai", T(2, 2, 3, 2), T(2, 3)),
        S("ij,ji->", T(2, 3), T(3, 2)),
        S(T(2, 3), [0, 1], T(3, 4), [1, 2], [0, 2]),
        S(T(2, 3), [0, 1], T(3, 4), [1, 2]),
        S("aB,Bc", T(2, 3), T(3, 2)),
        S(" i j -> j i", T(2, 3)),
    ],
    "tensordot": [
        S(T(2, 3, 4), T(3, 4, 2)).complex_too(),
        S(T(2, 3, 4), T(4, 3, 2), dims=([1, 2], [1, 0])),
        S(T(2, 3), T(2, 3), 2),
        S(T(3), T(3), 1),
        S(T(2), T(3), 0),
        S(T(2, 1), T(3, 4), dims=([1], [0])),
        S(I((2, 1), 9, dtype="uint8"), I((3, 4), 9, dtype="uint8"), dims=([1], [0])),
    ],
    "inner": [S(T(2, 3), T(4, 3)).complex_too(), S(T(3), T(3)), S(T(3), T())],
    "outer": [S(T(2), T(3)).complex_too()],
    "ger": [S(T(2), T(3))],
    "kron": [S(T(2, 3), T(2, 2)).complex_too(), S(T(2, 3), T(4)), S(T(), T(2))],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "einsum": [
        S("ij,jk->ik", T(2, 3), T(2, 4)),
        S("ij,jk", T(2, 3)),
        S("ij->ijk", T(2, 3)),
        S("i1->i", T(2, 3)),
        S("ij->i", T(2, 3, 2)),
        S("ij->ii", T(2, 3)),
        S("i...j->...", T(2)),
        S("i.j->i", T(2, 3)),
        S("......->i", T(2, 3)),
        S("ii->i", T(2, 3)),
        S("ij->.i", T(2, 3)),
        S("ij->i1", T(2, 3)),
        S("ij", T(2, 3), T(3)),
        S("ij"),
        S("ij,jk->ik", T(2, 3), T(3, 4, dtype="float32")),
    ],
    "tensordot": [S(T(2, 3), T(2, 4), 1), S(T(2, 3), T(2, 4), dims=([1], [0, 1]))],
    "inner": [S(T(2, 3), T(2))],
    "outer": [S(T(2), T(2, 2)), S(T(2, 2), T(2))],
}

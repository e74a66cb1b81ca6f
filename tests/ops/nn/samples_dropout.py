"""Samples of dropout."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    "nn.functional.dropout": [
        S(T(2, 3), 0.5).no_values(),
        S(T(2, 3), 0.0).no_graph(),
        S(T(2, 3), 1.0),
        S(T(2, 3), 0.5, False).no_graph(),
    ],
    "dropout": [S(T(2, 3), 0.0, True).no_graph(), S(T(2, 3), 0.5, False).no_graph()],
    "nn.functional.dropout1d": [S(T(2, 3, 4), 0.5).no_values()],
    "nn.functional.dropout2d": [S(T(2, 3, 4, 4), 0.5).no_values()],
    "nn.functional.dropout3d": [S(T(2, 3, 2, 2, 2), 0.5).no_values()],
    "feature_dropout": [S(T(2, 3, 4), 0.5, True).no_values()],
    "nn.functional.alpha_dropout": [
        S(T(2, 3), 0.5, True).no_values(),
        S(T(2, 3), 0.5).no_graph(),
        S(T(2, 3), 1.0, True),
    ],
    "nn.functional.feature_alpha_dropout": [
        S(T(2, 3, 4), 0.5, True).no_values(),
        S(T(2, 3, 4), 0.5).no_graph(),
    ],
    "alpha_dropout": [S(T(2, 3), 0.5, True).no_values(), S(T(2, 3), 0.5, False).no_graph()],
    "feature_alpha_dropout": [S(T(2, 3, 4), 0.5, True).no_values(), S(T(2, 3), 0.0, True).no_graph()],
    "dropout_": [S(T(2, 3, grad=False), 0.5, False).no_grad().dtypes("")],
    "alpha_dropout_": [S(T(2, 3, grad=False), 0.5, False).no_grad().dtypes("")],
    "feature_dropout_": [S(T(2, 3, grad=False), 1.0, True).no_grad().dtypes("")],
    "feature_alpha_dropout_": [S(T(2, 3, grad=False), 0.5, False).no_grad().dtypes("")],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "feature_alpha_dropout": [S(T(2), 0.5, True), S(T(2, 3), 1.5, True)],
    "nn.functional.dropout": [S(T(2), 1.5), S(I(3, 4), 0.5)],
}

"""What is planted in a kernel's source is found: by the shim, by its values, or by the order of threads."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from gradd_engine.kernels.cuda import KERNELS, source_of
from gradd_engine.kernels.cuda import launch as launching

from tests.cuda import host
from tests.cuda.cases import complaint
from tests.cuda.test_kernels import CASES

pytestmark = pytest.mark.skipif(host.MISSING is not None, reason=str(host.MISSING))

FORWARD = next(c for c in CASES if c.name == "(5,)-(7,)-True-True")
BACKWARD = next(c for c in CASES if c.name == "(70,)-(40,)-[True, True, False]")
DROPPED = next(c for c in CASES if c.name == "(33, 41)-0.1-0")
BENT = next(c for c in CASES if str(c) == "gelu-(3, 43)-tanh")
SUMMED = next(c for c in CASES if str(c) == "sum-(40000, 3)-0")
PLACED = next(c for c in CASES if str(c) == "scatter_add-((2, 2100), 300, 1, 'int64')")
STEP = next(c for c in CASES if str(c) == "adam_step")
UNSCALED = next(c for c in CASES if str(c) == "unscale_gradients-many")
ADJUSTED = next(c for c in CASES if str(c) == "adjust_scale-due")
LAYER = next(c for c in CASES if str(c) == "recurrent_layer-lstm-(40, [6, 6, 6], False)")
RETRACED = next(c for c in CASES if str(c) == "recurrent_layer_backward-gru-(33, [9, 9, 4, 1], True)")
CONVOLVED = next(c for c in CASES if str(c) == "convolution-usual")
PLACES = next(c for c in CASES if str(c) == "convolution_weight-places")


@pytest.fixture(autouse=True)
def fresh() -> Any:
    for cached in (launching._module, launching._function):
        cached.cache_clear()
    yield
    for cached in (launching._module, launching._function):
        cached.cache_clear()


def _plant(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    def planted(name: str) -> str:
        return source_of(name).replace(old, new, 1)

    assert any(old in source_of(kernel.source) for kernel in KERNELS.values())
    monkeypatch.setattr(launching, "source_of", planted)


@pytest.mark.parametrize(
    ("case", "old", "new", "said"),
    [
        # a write one past the end, a read before the beginning, shared memory too small
        (FORWARD, "out[row + j] =", "out[row + j + 1] =", r"an array \[35\] of 35 in block 4,0 thread 6"),
        (FORWARD, "x += wide(bias[j])", "x += wide(bias[j - 1])", r"an array \[-1\] of 7"),
        (BACKWARD, "SHARED(A, 1024, along)", "SHARED(A, 100, along)", r"shared memory \[100\] of 100"),
        (
            CONVOLVED,
            "SHARED(i64, COLUMNS, targets)",
            "SHARED(i64, 64, targets)",
            r"shared memory \[\d+\] of 64",
        ),
        (CONVOLVED, "(u32)y < (u32)a[1].size && ", "", r"an array \[-?\d+\] of"),
        # a barrier that only some threads reach
        (FORWARD, "if (threadIdx.x == 0) {", "if (threadIdx.x == 0) { __syncthreads();", "not all threads"),
        (STEP, "from + CHUNK < end ? from + CHUNK : end", "from + CHUNK", r"an array \[\d+\] of"),
        # a thread without a unit, a sample that goes on after its end, or begins before its beginning
        (LAYER, "bool mine = j < units", "bool mine = true", r"an array \[\d+\] of"),
        (RETRACED, "if (s < left) trail.back(", "if (s <= left) trail.back(", r"an array \[\d+\] of"),
        (RETRACED, "s < had ? sooner + s : -1", "sooner + s", r"an array \[\d+\] of"),
        # an argument of another type
        (
            FORWARD,
            "i64 n, double eps)",
            "double n, double eps)",
            "argument 7 is # where the kernel takes a real",
        ),
    ],
)
def test_what_a_kernel_must_not_do_is_an_error(
    monkeypatch: pytest.MonkeyPatch, case: Any, old: str, new: str, said: str
) -> None:
    _plant(monkeypatch, old, new)
    with pytest.raises(host.ShimError, match=said):
        complaint(case, "float32")


@pytest.mark.parametrize(
    ("case", "old", "new", "said"),
    [
        # wrong constants: of Philox, of the unit of uniform numbers, of the deviation
        (DROPPED, "0xCD9E8D57u", "0xCD9E8D55u", "result 0 is off"),
        (DROPPED, "1.0 / 16777216.0", "1.0 / 16777215.0 / 2", "result 0 is off"),
        (FORWARD, "(A)1 / root(", "(A)1.00001 / root(", "result 0 is off"),
        (BENT, "* 0.044715) * x * x));", "* 0.0447) * x * x));", "result 0 is off"),
        (STEP, "(A)(1 - beta2) * slope", "(A)0.002 * slope", "is off"),
        # what is not finite is not noted, a scale that is rounded before, a streak that goes on
        (UNSCALED, "|| unbounded(slope)", "", "result 0 is off"),
        (UNSCALED, "(A)(float)(1 / (double)scale[0])", "(A)(1 / 1535.0)", "is off"),
        (ADJUSTED, "skipped || due ? 0 : longer", "skipped ? 0 : longer", "other values"),
        # pieces that overlap
        (STEP, "from + CHUNK < end ? from + CHUNK : end", "end", "off"),
        # parts that are lost, or begin too late
        (PLACES, "p < parts; p++", "p < parts - 1; p++", "off"),
        (PLACES, "begin = part * most,", "begin = part * (most + 1),", "off"),
        (SUMMED, "from + s.most < s.n ? from + s.most : s.n", "s.n", "off"),
        # a sum that several threads add to
        (PLACED, "there < 0 || there % side != y", "there < 0", "off"),
        # barriers left out
        (LAYER, "__syncthreads();  // the next states are whole", "", "order|off"),
        (CONVOLVED, "__syncthreads();  // the slice before has been multiplied", "", "order|off"),
        (RETRACED, "__syncthreads();  // the slopes are whole", "", "order|off"),
        (SUMMED, "__syncthreads();\n            if (y < h) cells", "if (y < h) cells", "order|off"),
        (PLACED, "__syncthreads();\n            for (int m = 0; m < s", "for (int m = 0; m < s", "order|off"),
        (BACKWARD, "= second;\n    __syncthreads();", "= second;", "order|off"),
        (FORWARD, "cells[32] = x;\n    }\n    __syncthreads();", "cells[32] = x;\n    }", "order|off"),
    ],
)  # fmt: skip
def test_what_a_kernel_computes_wrongly_is_a_complaint(
    monkeypatch: pytest.MonkeyPatch, case: Any, old: str, new: str, said: str
) -> None:
    assert complaint(case, "float32") is None
    fresh_ = launching._module, launching._function
    for cached in fresh_:
        cached.cache_clear()
    _plant(monkeypatch, old, new)
    assert re.search(said, str(complaint(case, "float32")))


def test_16_bit_numbers_are_rounded_as_numpy_rounds() -> None:
    from ml_dtypes import bfloat16

    code = (
        source_of("norms")
        + "\ntemplate <class T> KERNEL copied(View<const float> a, View<T> b, View<float> c, i64 n) {\n"
        "    for (i64 i = first(); i < n; i += stride()) { b[i] = narrow<T>(a[i]); c[i] = wide(b[i]); } }\n"
    )
    made = host.built(code, ("copied<Half>", "copied<BFloat>"))
    rng = np.random.default_rng(0)
    a = np.concatenate([
        rng.normal(0, 1, 500), 10.0 ** rng.uniform(-9, 6, 2000), -(10.0 ** rng.uniform(-9, 6, 500)),
        [0.0, -0.0, np.inf, -np.inf, np.nan, 65504, 65519.9, 65520, 2**-24, 2**-25, 2**-25 * 1.01, 2**-14],
    ]).astype(np.float32)  # fmt: skip
    for name, dtype in (("copied<Half>", np.float16), ("copied<BFloat>", bfloat16)):
        b, c = np.empty(a.size, dtype), np.empty_like(a)
        made.launch(name, (3, 1, 1), 64, [a, b, c, a.size])
        with np.errstate(over="ignore"):
            want = a.astype(dtype)
        numbers = ~np.isnan(a)
        assert b[numbers].tobytes() == want[numbers].tobytes()
        np.testing.assert_array_equal(c, want.astype(np.float32))

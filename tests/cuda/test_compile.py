"""NVRTC compiles every device kernel."""

from __future__ import annotations

import pytest
from gradd_engine.kernels.cuda.launch import OPTIONS
from gradd_engine.kernels.cuda.sources import source_of, together

from tests.cuda import nvrtc
from tests.cuda.compile import ARCHITECTURES, refusals

pytestmark = pytest.mark.skipif(
    nvrtc.library() is None, reason="needs NVRTC: pip install --group cuda-compile"
)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_nvrtc_compiles_every_kernel(architecture: str) -> None:
    assert refusals(architecture) == []


def test_what_is_no_cuda_is_refused() -> None:
    code = source_of("norms").replace("total = block_sum(total)", "total = block_sum(totals)", 1)
    options = (*OPTIONS, "--gpu-architecture=sm_90")
    with pytest.raises(nvrtc.Refused, match=r'norms\.cu\(\d+\): error: identifier "totals" is undefined'):
        nvrtc.compile(code, together("norms", "f"), options)

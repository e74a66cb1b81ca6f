"""What gradd costs beside its peers: one question a file, `python -m benchmarks` asks them all."""

import os

# Before numpy is imported: where the environment pins OpenBLAS to the kernels of another processor, gradd
# would be measured with these, and torch with those of this one.
for _pin in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(_pin, None)

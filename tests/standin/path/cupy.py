"""What ``import cupy`` finds in a process with this folder on its path: the stand-in."""

import sys

from tests.standin import CUPY

sys.modules[__name__] = CUPY

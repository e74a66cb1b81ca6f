"""The older name of gymnasium."""

from gymnasium import *  # noqa: F403
from gymnasium import Env, make, spaces, wrappers  # noqa: F401

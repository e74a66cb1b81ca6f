"""Plans: a program seen for the second time is traced once and from then on replayed as a list of kernel
calls.

Eager or planned is a function of the stream alone. What a plan cannot hold (graphs that come in, views,
shapes that depend on values, writes before something that may raise) runs eagerly, with the same result.
"""

from .cache import Plans

__all__ = ["Plans"]

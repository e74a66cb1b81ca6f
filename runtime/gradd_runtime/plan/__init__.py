"""Plans: when a program comes a second time it is traced, and from then on replayed as a list of kernel
calls.

Whether a batch runs by a plan depends on the session's requests alone. What a plan cannot express (incoming
graphs, views, shapes that depend on values, writes before something that may raise) runs eagerly, with the
same result.
"""

from .cache import Plans

__all__ = ["Plans"]

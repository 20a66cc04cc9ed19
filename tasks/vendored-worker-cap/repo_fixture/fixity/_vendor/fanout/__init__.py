"""fanout 0.3.2: a task over many items, on several threads."""

from .run import fan_out

__all__ = ["fan_out"]
__version__ = "0.3.2"

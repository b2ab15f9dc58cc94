"""What the operations of the language mean: typing, promotion, broadcasting, pointer arithmetic, the IR they make."""

from .semantic import Semantic

__all__ = ["Semantic"]

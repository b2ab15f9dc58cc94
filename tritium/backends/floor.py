"""The former name of `roofline`, accepted for one release."""

from .roofline import Launch, Rates
from .roofline import Roofline as Floor
from .roofline import roofline_of as floor_of

__all__ = ["Floor", "Launch", "Rates", "floor_of"]

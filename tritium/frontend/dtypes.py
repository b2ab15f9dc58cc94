"""All types of the language under one name."""

from .aggregate_types import *
from .scalar_types import *

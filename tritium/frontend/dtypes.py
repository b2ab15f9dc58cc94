"""All types of the language under one name."""

# ruff: noqa: F403
from .aggregate_types import *
from .scalar_types import *

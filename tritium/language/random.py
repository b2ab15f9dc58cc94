"""`tritium.language.random`: random numbers by counter."""

# ruff: noqa: F403
from ..frontend.language.random import *

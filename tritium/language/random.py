"""`tritium.language.random`: counter-based random numbers."""

# ruff: noqa: F403
from ..frontend.language.random import *

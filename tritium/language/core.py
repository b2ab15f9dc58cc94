"""`tritium.language.core`: the basic names of the language."""

# ruff: noqa: F401, F403
from ..frontend.language.core import *
from ..frontend.language.core import _unwrap_if_constexpr

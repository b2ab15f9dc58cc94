"""`tritium.language.standard`: the library written in the language itself."""

# ruff: noqa: F401, F403
from ..frontend.language.standard import *
from ..frontend.language.standard import _is_power_of_two, _log2, sort_impl

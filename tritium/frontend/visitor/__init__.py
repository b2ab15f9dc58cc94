"""From a Python function to a module of the tt dialect.

`core` holds the visitor of one function, `unit` what the functions of a module share; how each kind of syntax is
compiled stands in the other files, registered by node class on import (that of loops when there is one).
"""

from . import assign, branches, calls, expressions, operators, statements
from .core import Visitor
from .entry import ast_to_ttir

__all__ = ["Visitor", "ast_to_ttir"]

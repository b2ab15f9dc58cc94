"""From a Python function to a module of the tt dialect.

`core` holds the visitor of one function, `unit` the state that the functions of a module share. The other files hold
handlers of syntax nodes, registered by node class on import; those of loops and early exits are imported on first use.
"""

from . import assign, branches, calls, expressions, operators, statements
from .core import Visitor
from .entry import ast_to_ttir

__all__ = ["Visitor", "ast_to_ttir"]

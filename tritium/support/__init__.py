"""Source locations, errors with carets, settings: used by all other packages."""

from .diagnostics import Diagnostic
from .errors import (
    InternalError,
    OptionError,
    TooManyElements,
    TooManyOperations,
    TritiumError,
    UnknownOptionError,
    UnsupportedOperation,
    UnsupportedStage,
)
from .location import UNKNOWN, CallSiteLoc, FileLineColLoc, FileRangeLoc, FusedLoc, Location, NameLoc, UnknownLoc

__all__ = [
    "UNKNOWN",
    "CallSiteLoc",
    "Diagnostic",
    "FileLineColLoc",
    "FileRangeLoc",
    "FusedLoc",
    "InternalError",
    "Location",
    "NameLoc",
    "OptionError",
    "TooManyElements",
    "TooManyOperations",
    "TritiumError",
    "UnknownOptionError",
    "UnsupportedOperation",
    "UnsupportedStage",
    "UnknownLoc",
]

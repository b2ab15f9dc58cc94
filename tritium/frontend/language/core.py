"""All basic names of the language in one module, as `triton.language.core` has them."""

from ..dtypes import *
from .creation import *
from .hints import *
from .memory import *

"""The sanitizer of floating point by integers: refused where a kernel uses it."""

from ....frontend.gluon.refused import refused_functions

globals().update(
    refused_functions("embed unembed", "is not supported yet: no pass replaces floating point by integers")
)

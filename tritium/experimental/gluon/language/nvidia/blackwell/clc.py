"""Cluster launch control: refused where a kernel uses it."""

from ......frontend.gluon.refused import refused_class, refused_functions

_WHY = "needs cluster launch control, which Blackwell GPUs have: they are not supported yet"
globals().update(refused_functions("load_result try_cancel", _WHY))
clc_result = refused_class("clc_result", _WHY)

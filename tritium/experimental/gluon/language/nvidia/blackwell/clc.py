"""Cluster launch control: refused where a kernel uses it."""

from ......frontend.gluon.refused import refused_class, refused_functions

_WHY = "needs cluster launch control, which Blackwell GPUs have: they are not supported yet"
globals().update(refused_functions("load_result try_cancel", _WHY))
clc_result, clc_result_type = (refused_class(_name, _WHY) for _name in ("clc_result", "clc_result_type"))

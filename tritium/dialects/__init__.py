"""The dialects: what each operation is, its fields, traits and text form.

Those that every compile needs are imported with this package; the others when text that names them is read (or by
`import tritium.dialects.<name>`).
"""

from ..ir import register_dialects
from ..support.lazy import LazyModule
from . import arith, builtin, cf, llvm, math, scf, tt, ub

__all__ = ["arith", "builtin", "cf", "llvm", "math", "scf", "tt", "ub"]

register_dialects(
    {
        "amdg": LazyModule(".amdg", __package__),
        "gluon": LazyModule(".gluon", __package__),
        "gpu": LazyModule(".gpu", __package__),
        "llvm": LazyModule(".llvm_ops", __package__),
        "nvg": LazyModule(".nvg", __package__),
        "nvvm": LazyModule(".nvvm", __package__),
        "nvws": LazyModule(".nvws", __package__),
        "proton": LazyModule(".proton", __package__),
        "proton_gpu": LazyModule(".proton_gpu", __package__),
        "rocdl": LazyModule(".rocdl", __package__),
        "ttc": LazyModule(".ttc", __package__),
        "ttg": LazyModule(".ttg", __package__),
        "tti": LazyModule(".tti", __package__),
        "ttng": LazyModule(".ttng", __package__),
    }
)
# Of dialects that are imported above, the operations that few programs hold.
register_dialects({name: LazyModule(f".{name}_rare", __package__) for name in ("arith", "cf", "math", "scf")})

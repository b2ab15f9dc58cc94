"""quack (pypi.org/project/quack-kernels): its Triton kernels and its autotuner. Its other kernels are CuTe's, and need
a GPU and cutlass; what their modules import of these is answered by names without a meaning."""

import importlib.machinery
import importlib.util
import math
import os
import sys
import tempfile
import types

os.environ["QUACK_CACHE_DIR"] = tempfile.mkdtemp()

import torch
from harness import DEVICE, case, close, draw, main, package, start

start("")


class _Name(type):
    """A name that is only mentioned: in annotations, decorators, and as a base class."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return cls

    def __call__(cls, *args, **kwargs):
        return args[0] if len(args) == 1 and not kwargs and callable(args[0]) else cls

    def __getitem__(cls, key):
        return cls

    def __setitem__(cls, key, value):
        pass

    def __iter__(cls):
        return iter(())

    def __or__(cls, other):
        return cls

    __ror__ = __or__


class _Module(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Name(name, (), {})


class _Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("cutlass", "cuda", "tvm_ffi", "torch_c_dlpack_ext"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        pass


if importlib.util.find_spec("cutlass") is None:
    package("quack", os.path.dirname(importlib.util.find_spec("quack").origin))
    sys.modules["quack"].__version__ = "0"
    sys.meta_path.append(_Finder())


if DEVICE == "cuda":  # it asks torch for the GPU's stream

    @case
    def autotuner():
        from quack.autotuner import AutotuneConfig, autotune

        def bench(function, quantiles=None):
            function()
            return [1.0, 1.0, 1.0]

        @autotune(configs=[AutotuneConfig(block=32), AutotuneConfig(block=64)], key=["n"], do_bench=bench)
        def scaled(x, n, block=None):
            assert block in (32, 64)
            return 2 * x

        x = draw(128)
        close(scaled(x, 128), 2 * x.double())


@case
def cross_entropy_rows():
    from quack.linear_cross_entropy import _lce_glue_row

    rows, tiles, width = 9, 4, 64
    logits = draw(rows, tiles * width)
    target = torch.randint(0, tiles * width, (rows,)).to(DEVICE)
    target[3] = -100
    k = (logits.view(rows, tiles, width).amax(2) / math.log(2.0)).ceil()
    sums = torch.exp(logits.view(rows, tiles, width) - k[:, :, None] * math.log(2.0)).sum(2)
    scaled = torch.zeros(rows, tiles * width, dtype=torch.bfloat16, device=DEVICE)
    loss, kr, v = (torch.empty(rows, device=DEVICE) for _ in range(3))
    exact = logits.gather(1, target.clamp(min=0)[:, None])[:, 0].contiguous()
    x, xs = draw(rows, 40), torch.empty(rows, 40, dtype=torch.bfloat16, device=DEVICE)
    _lce_glue_row[(rows,)](
        *(k.contiguous(), sums.contiguous(), x, target, exact, scaled, loss, kr, v, xs, v),
        *(rows, tiles, 40, tiles * width, x.stride(0), -100),
        TILE_N1=width,
        HAS_SCALE=False,
        WRITE_XS=True,
        BLOCK_T=tiles,
        BLOCK_D=256,
        num_warps=4,
    )
    wanted = torch.nn.functional.cross_entropy(logits.double(), target, reduction="none", ignore_index=-100)
    close(loss, wanted, 1e-4)
    close(xs, (x.double() * v.bfloat16().double()[:, None]))


main()

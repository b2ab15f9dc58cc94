"""xFormers (github.com/facebookresearch/xformers): norms, and gathers of rows."""

import sys

import torch
from harness import DEVICE, case, close, draw, main, package, start
from torch.nn import functional as F

sys.path.pop(0)  # this file has the package's name
start("")
package("xformers", "xformers")
package("xformers.ops", "xformers/ops")
package("xformers.ops._triton", "xformers/ops/_triton")

from xformers.ops._triton.k_index_select_cat import index_select_cat_bwd, index_select_cat_fwd  # noqa: E402
from xformers.ops._triton.rmsnorm_kernels import _rms_norm_add_forward, _rms_norm_forward  # noqa: E402


@case
def rms_norms():
    for columns in (100, 9000):
        x, w = draw(5, 7, columns), draw(columns)
        close(_rms_norm_forward(x, w, 1e-5), F.rms_norm(x.double(), (columns,), w.double(), 1e-5))
        y = draw(5, 7, columns)
        want = x.double() + y.double()
        close(_rms_norm_add_forward(x, y, w, 1e-5), F.rms_norm(want, (columns,), w.double(), 1e-5))
        close(x, want)


@case
def rows_by_index():
    if DEVICE == "cpu":  # the functions ask whether their arguments are CUDA's
        torch.Tensor.is_cuda = property(lambda self: True)
    source, index = draw(50, 300), torch.randperm(50)[:31].to(DEVICE)
    out = torch.full((31, 300), float("nan"), device=DEVICE)
    index_select_cat_fwd(out, source, index)
    close(out, source[index].double())
    gradient = torch.zeros(50, 300, device=DEVICE)
    index_select_cat_bwd(gradient, index, out)
    want = torch.zeros(50, 300, dtype=torch.float64, device=DEVICE)
    want[index] = out.double()
    close(gradient, want)


main()

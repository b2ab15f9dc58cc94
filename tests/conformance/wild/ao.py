"""torchao (github.com/pytorch/ao): products and quantization in 8 bits."""

import torch
from harness import DEVICE, case, close, draw, main, package, start

start("")
for name in ("torchao", "torchao.prototype", "torchao.prototype.quantized_training"):
    package(name, name.replace(".", "/"))
package("torchao.prototype.blockwise_fp8_inference", "torchao/prototype/blockwise_fp8_inference")

from torchao.prototype.blockwise_fp8_inference.kernels import fp8_blockwise_act_quant  # noqa: E402
from torchao.prototype.quantized_training.int8_mm import scaled_int8_mm_cuda  # noqa: E402


@case
def scaled_products_of_bytes():
    for m, n, k in ((70, 90, 130), (128, 128, 128)):
        a, b = (torch.randint(-128, 128, shape, dtype=torch.int8).to(DEVICE) for shape in ((m, k), (k, n)))
        rows, columns = draw(m, low=0.1), draw(n, low=0.1)
        want = (a.double() @ b.double()) * rows.double()[:, None] * columns.double()
        close(scaled_int8_mm_cuda(a, b, rows, columns), want)


@case
def blocks_of_small_floats():
    for dtype, digits in ((torch.float8_e4m3fn, 3), (torch.float8_e5m2, 2)):
        x = draw(20, 512)
        small, scales = fp8_blockwise_act_quant(x, 128, dtype)
        blocks = x.view(20, 4, 128)
        close(scales, blocks.double().abs().amax(-1) / 448)
        back = small.float().view(20, 4, 128) * scales[..., None]
        off = (back - blocks).abs() <= blocks.abs() * 2.0 ** -(digits + 1) + scales[..., None] * 2.0**-9
        assert bool(off.all()), f"{dtype}: {int((~off).sum())} elements off"


main()

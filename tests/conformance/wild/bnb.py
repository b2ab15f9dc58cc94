"""bitsandbytes (github.com/bitsandbytes-foundation/bitsandbytes): quantization to 4 and 8 bits, optimizers."""

import torch
from harness import DEVICE, case, close, draw, main, package, start

start("")
package("bitsandbytes", "bitsandbytes")
package("bitsandbytes.backends", "bitsandbytes/backends")
package("bitsandbytes.backends.triton", "bitsandbytes/backends/triton")

from bitsandbytes.backends.triton import kernels_4bit, kernels_8bit_quant, kernels_optim  # noqa: E402

NF4 = (
    -1.0,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0.0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1.0,
)
FP4 = [0.0, 0.0052, 0.6667, 1.0, 0.3333, 0.5, 0.1667, 0.25]


@case
def four_bits():
    """Every number becomes the nearest of 16 and comes back as that."""
    for kind, code in (("nf4", list(NF4)), ("fp4", FP4 + [-c for c in FP4])):
        x, block = draw(64 * 30), 64
        packed = torch.full((x.numel() // 2, 1), 255, dtype=torch.uint8, device=DEVICE)
        largest = torch.full((30,), float("nan"), device=DEVICE)
        kernels_4bit.quantize_4bit_blockwise_triton(x, block, kind, 30, largest, x.numel(), packed)
        close(largest, x.view(30, 64).abs().amax(1))
        back = torch.full_like(x, float("nan"))
        kernels_4bit.dequantize_4bit_impl(packed, largest, block, kind, torch.float32, back)
        table = torch.tensor(code, device=DEVICE)
        scaled = x.view(30, 64) / largest[:, None]
        nearest = (scaled[..., None] - table).abs().amin(-1)
        assert float(((back.view(30, 64) / largest[:, None] - scaled).abs() - nearest).abs().max()) < 2e-3, kind


@case
def eight_bits():
    code = torch.linspace(-1, 1, 256).to(DEVICE)
    x = draw(256 * 9)
    found, largest = kernels_8bit_quant.quantize_blockwise_triton(x, code, 256)
    scaled = x.view(9, 256) / largest[:, None]
    close(largest, x.view(9, 256).abs().amax(1))
    chosen = code[found.long()].view(9, 256)
    assert float((chosen - scaled).abs().max()) <= 1 / 255 + 1e-6
    back = kernels_8bit_quant.dequant_8bit_blockwise(found, largest, code, 256, torch.float32)
    close(back.view(9, 256), chosen.double() * largest[:, None])


@case
def adam():
    p, g = draw(1000), draw(1000)
    m, v = draw(1000), draw(1000).square()
    want_m, want_v = 0.9 * m.double() + 0.1 * g.double(), 0.99 * v.double() + 0.01 * g.double().square()
    corrected = (1 - 0.99**3) ** 0.5
    step = 1e-2 * corrected / (1 - 0.9**3)
    want = p.double() - step * want_m / (want_v.sqrt() + 1e-8 * corrected)
    kernels_optim.optimizer_update_32bit_impl(
        "adam", g, p, m, v, None, 0.0, 0.0, 0.9, 0.99, 0.0, 0.0, 1e-8, 0.0, 3, 1e-2
    )
    close(m, want_m)
    close(v, want_v)
    close(p, want, 1e-4)


main()

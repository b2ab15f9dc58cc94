"""DeepSeek-V3 (github.com/deepseek-ai/DeepSeek-V3): the kernels of its inference, 8-bit floats with a scale a block."""

import torch
from harness import DEVICE, case, close, draw, main, start

start("inference")

import kernel  # noqa: E402

kernel.fp8_gemm_kernel.configs = kernel.fp8_gemm_kernel.configs[::12]


def _scaled(values, scales):
    """The numbers that 8-bit values and the scales of groups of 128 in a row stand for."""
    return (values.double().unflatten(-1, (-1, 128)) * scales.double()[..., None]).flatten(-2)


@case
def activations():
    x = draw(64, 512, dtype=torch.bfloat16)
    largest = x.double().unflatten(-1, (-1, 128)).abs().amax(-1)
    values, scales = kernel.act_quant(x)
    close(scales, largest / 448)
    close(_scaled(values, scales), x.double(), 0.04)
    values, scales = kernel.act_quant(x, scale_fmt="ue8m0")
    assert torch.equal(scales.log2().round(), scales.log2())
    close(_scaled(values, scales), x.double(), 0.04)


@case
def weights():
    weight, scales = draw(256, 512).to(torch.float8_e4m3fn), draw(2, 4, low=0.5)
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)  # as its model does: results have this type
    try:
        whole = weight.double() * scales.double().repeat_interleave(128, 0).repeat_interleave(128, 1)
        close(kernel.weight_dequant(weight, scales), whole, 1e-2)
        x, x_scales = kernel.act_quant(draw(64, 512, dtype=torch.bfloat16))
        close(kernel.fp8_gemm(x, x_scales, weight, scales), _scaled(x, x_scales) @ whole.T, 1e-2)
    finally:
        torch.set_default_dtype(default)
    assert DEVICE == x.device.type


main()

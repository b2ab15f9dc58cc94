"""Triton's tutorials (github.com/triton-lang/triton, python/tutorials): the kernels that are not measured elsewhere."""

import importlib.util

import torch
from tutorials_reader import tutorial
from workloads import both_ways, path, rand, stand_in, workload

FOLDER = path("python/tutorials")
if importlib.util.find_spec("tabulate") is None:  # dropout's tutorial prints with it
    stand_in("tabulate", tabulate=lambda *_, **__: "")
f16, f32 = torch.float16, torch.float32


def _tutorial(number):
    """A tutorial's functions; what it runs when imported is left out."""
    return tutorial(FOLDER, number, True)


@workload
def vector_add():
    module, x, y = _tutorial("01"), rand(1 << 26, dtype=f32), rand(1 << 26, dtype=f32)

    def run():
        out = torch.empty_like(x)
        module.add_kernel[(x.numel() // 1024,)](x, y, out, x.numel(), BLOCK_SIZE=1024)
        return out

    return run


@workload
def softmax():
    module, x = _tutorial("02"), rand(4096, 4096, dtype=f32)

    def run():
        y = torch.empty_like(x)
        module.softmax_kernel[(132 * 4,)](
            y, x, x.stride(0), y.stride(0), 4096, 4096, BLOCK_SIZE=4096, num_stages=4, num_warps=8
        )
        return y

    return run


@workload
def matmul():
    module, a, b = _tutorial("03"), rand(4096, 4096, dtype=f16), rand(4096, 4096, dtype=f16)

    def run():
        c = torch.empty(4096, 4096, dtype=f16, device=a.device)
        module.matmul_kernel[lambda m: (4096 // m["BLOCK_SIZE_M"] * (4096 // m["BLOCK_SIZE_N"]),)](
            a, b, c, 4096, 4096, 4096, 4096, 1, 4096, 1, 4096, 1, ACTIVATION="leaky_relu"
        )
        return c

    return run


@workload
def dropout():
    module, x = _tutorial("04"), rand(1 << 26, dtype=f32)

    def run():
        out = torch.empty_like(x)
        module._seeded_dropout[(x.numel() // 1024,)](x, out, x.numel(), 0.5, 123, BLOCK_SIZE=1024)
        return out

    return run


@workload
def layer_norm():
    module = _tutorial("05")
    apply = module.LayerNorm.apply
    return both_ways(
        lambda x, w, b: apply(x, (4096,), w, b, 1e-5), rand(4096, 4096, dtype=f16), rand(4096, dtype=f16),
        rand(4096, dtype=f16),
    )  # fmt: skip


@workload
def attention_backward():
    module = _tutorial("06")
    q, k, v = (rand(2, 16, 2048, 64, dtype=f16) for _ in range(3))
    return both_ways(lambda *x: module.attention(*x, True, 0.125, False), q, k, v)


@workload
def extern_asin():
    module, x = _tutorial("07"), rand(1 << 26, dtype=f32, scale=0.3)

    def run():
        out = torch.empty_like(x)
        module.asin_kernel[(x.numel() // 1024,)](x, out, x.numel(), BLOCK_SIZE=1024)
        return out

    return run

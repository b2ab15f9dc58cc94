"""Helion (pypi.org/project/helion): kernels that it writes in Triton, with a configuration and with a search for one."""

import helion
import helion.language as hl
import torch
from harness import DEVICE, PRODUCTS, case, close, draw, main, start
from helion.autotuner import RandomSearch

start("")


@helion.kernel(static_shapes=True, autotune_effort="none")
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size()):
        out[tile] = x[tile] + y[tile]
    return out


@helion.kernel(static_shapes=True, autotune_effort="none")
def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    _, n = y.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for tile_m, tile_n in hl.tile([m, n]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(k):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        out[tile_m, tile_n] = acc.to(x.dtype)
    return out


@helion.kernel(static_shapes=True, autotune_effort="none")
def softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile, :] = torch.nn.functional.softmax(x[tile, :], dim=1)
    return out


@case
def default_configurations():
    x, y = draw(60, 70), draw(60, 70)
    close(add(x, y), x.double() + y.double())
    close(softmax(x), torch.softmax(x.double(), 1))
    a, b = draw(64, 96), draw(96, 48)
    close(matmul(a, b), a.double() @ b.double(), PRODUCTS)


if DEVICE == "cuda":  # its benchmarks know no CPU

    def _tuned(kernel, *args):
        bound = kernel.bind(args)
        bound.set_config(RandomSearch(bound, args, 4).autotune())
        return bound(*args)

    @case
    def autotuning():
        x, y = draw(64, 128), draw(64, 128)
        close(_tuned(add, x, y), x.double() + y.double())
        a, b = draw(64, 64), draw(64, 64)
        close(_tuned(matmul, a, b), a.double() @ b.double(), PRODUCTS)

    @case
    def autotuning_by_the_decorator():
        @helion.kernel(static_shapes=True, autotune_effort="quick")
        def scaled(x: torch.Tensor) -> torch.Tensor:
            out = torch.empty_like(x)
            for tile in hl.tile(x.size()):
                out[tile] = x[tile] * 2
            return out

        x = draw(256, 256)
        close(scaled(x), 2 * x.double())


main()

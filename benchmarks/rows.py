"""Softmax of 4096 rows of 1024 to 8192 columns, and layer norm forward, against torch, in float32."""

from __future__ import annotations

import torch
from measure import Row, against, example, main

import tritium as triton

softmax_kernel = example("fused_softmax").softmax_kernel
layer_norm_kernel = example("layer_norm")._layer_norm_fwd_fused
ROWS = 4096
COLUMNS = (1024, 2048, 4096, 8192)


def softmax(columns: int) -> list[Row]:
    x, y = torch.randn(ROWS, columns), torch.empty(ROWS, columns)
    block = triton.next_power_of_2(columns)
    grid = (ROWS,)

    def ours() -> None:
        softmax_kernel[grid](y, x, columns, columns, ROWS, columns, BLOCK_SIZE=block, num_stages=2)

    rows = against(
        f"softmax {ROWS}x{columns} f32", ours, {"torch": (lambda: torch.softmax(x, 1, out=y), 1.0)}, rounds=9
    )
    ours()
    assert torch.allclose(y, torch.softmax(x, 1), rtol=1e-5, atol=1e-7)
    return rows


def layer_norm(columns: int) -> list[Row]:
    x, y = torch.randn(ROWS, columns), torch.empty(ROWS, columns)
    w, b = torch.rand(columns), torch.rand(columns)
    mean, rstd = torch.empty(ROWS), torch.empty(ROWS)
    block = min(512, triton.next_power_of_2(columns))
    results = (y, mean.view(ROWS, 1), rstd.view(ROWS, 1))

    def ours() -> None:
        layer_norm_kernel[(ROWS,)](x, y, w, b, mean, rstd, columns, columns, 1e-5, BLOCK_SIZE=block)

    def theirs() -> None:
        torch.ops.aten.native_layer_norm.out(
            x, (columns,), w, b, 1e-5, out0=results[0], out1=results[1], out2=results[2]
        )

    rows = against(f"layer norm forward {ROWS}x{columns} f32", ours, {"torch": (theirs, 1.0)}, rounds=9)
    ours()
    assert torch.allclose(y, torch.nn.functional.layer_norm(x, (columns,), w, b, 1e-5), rtol=1e-4, atol=1e-5)
    return rows


def measure() -> list[Row]:
    """The rows of this script."""
    return [row for columns in COLUMNS for row in softmax(columns)] + [row for c in COLUMNS for row in layer_norm(c)]


if __name__ == "__main__":
    main(measure)

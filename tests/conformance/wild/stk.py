"""stk (github.com/stanford-futuredata/stk): matmuls with block-sparse matrices, used by megablocks."""

import sys

import torch
from harness import DEVICE, case, close, draw, main, package, start

sys.path.pop(0)  # this file has the package's name
start("")
for _below in ("stk", "stk.backend"):
    package(_below, _below.replace(".", "/"))

from stk.backend import triton_kernels  # noqa: E402

BLOCK = 128
LAYOUT = torch.tensor([[1, 0], [1, 1]])
ROWS, COLUMNS = (x.to(torch.int16).to(DEVICE) for x in LAYOUT.nonzero(as_tuple=True))
STARTS = torch.tensor([0, 1, 3], dtype=torch.int32, device=DEVICE)
SHAPE = (2 * BLOCK, 2 * BLOCK)


def _blocks(whole):
    return [whole[r * BLOCK :, c * BLOCK :][:BLOCK, :BLOCK] for r, c in zip(ROWS.tolist(), COLUMNS.tolist())]


@case
def blocks_of_a_product():
    a, b = draw(*SHAPE, dtype=torch.float16), draw(*SHAPE, dtype=torch.float16)
    out = torch.empty(3, BLOCK, BLOCK, dtype=torch.float16, device=DEVICE)
    triton_kernels.sdd(a, b, SHAPE, out, STARTS, ROWS, COLUMNS)
    close(out, torch.stack(_blocks(a.double() @ b.double())), 1e-2)
    found = torch.empty(3, dtype=torch.int16, device=DEVICE)
    triton_kernels.row_indices(SHAPE, None, STARTS, COLUMNS, found)
    close(found, ROWS)


@case
def products_of_blocks():
    order = torch.argsort(COLUMNS.int(), stable=True).int()
    transposed = torch.tensor([0, 2, 3], dtype=torch.int32, device=DEVICE), ROWS[order.long()], order
    data, dense = draw(3, BLOCK, BLOCK, dtype=torch.float16), draw(*SHAPE, dtype=torch.float16)
    whole = torch.zeros(SHAPE, dtype=torch.float64, device=DEVICE)
    for block, value in zip(_blocks(whole), data):
        block.copy_(value)
    for turned in (False, True):
        matrix, out = whole.T if turned else whole, torch.empty(SHAPE, dtype=torch.float16, device=DEVICE)
        triton_kernels.dsd(SHAPE, data, STARTS, ROWS, COLUMNS, *transposed, turned, dense, out)
        close(out, matrix @ dense.double(), 1e-2)
        triton_kernels.dds(dense, SHAPE, data, STARTS, ROWS, COLUMNS, *transposed, turned, out)
        close(out, dense.double() @ matrix, 1e-2)


main()

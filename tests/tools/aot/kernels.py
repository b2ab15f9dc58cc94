"""The kernels that these tests compile ahead of time."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


@triton.jit
def scale_rows(x_ptr, out_ptr, rows, columns, row_stride, column_stride, factor, BLOCK: tl.constexpr = 64):
    """out[i, j] = x[i, j] * factor, for a dense `out`."""
    row = tl.program_id(0)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + j * column_stride, mask=j < columns)
    tl.store(out_ptr + row * columns + j, x * factor, mask=(j < columns) & (row < rows))


@triton.jit
def numbers(out_ptr, h, b, f, d, yes, i8, i16, i32, i64, u8, u16, u32, u64):
    """Every number as fp64, in order."""
    tl.store(out_ptr + 0, h.to(tl.float64))
    tl.store(out_ptr + 1, b.to(tl.float64))
    tl.store(out_ptr + 2, f.to(tl.float64))
    tl.store(out_ptr + 3, d)
    tl.store(out_ptr + 4, yes.to(tl.float64))
    tl.store(out_ptr + 5, i8.to(tl.float64))
    tl.store(out_ptr + 6, i16.to(tl.float64))
    tl.store(out_ptr + 7, i32.to(tl.float64))
    tl.store(out_ptr + 8, i64.to(tl.float64))
    tl.store(out_ptr + 9, u8.to(tl.float64))
    tl.store(out_ptr + 10, u16.to(tl.float64))
    tl.store(out_ptr + 11, u32.to(tl.float64))
    tl.store(out_ptr + 12, u64.to(tl.float64))


@triton.jit
def names(int, stream, x, tt_it, grid, none_ptr, MODE: tl.constexpr):
    """Parameters that C could not call so; `none_ptr` may be None."""
    value = stream + x + tt_it + grid
    if none_ptr is not None:
        value += tl.load(none_ptr)
    if MODE == "double":
        value *= 2
    tl.store(int, value)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, k, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    """c = a @ b for square tiles of one program."""
    i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    inner = tl.arange(0, DEPTH)
    accumulator = tl.zeros((BLOCK, BLOCK), tl.float32)
    for at in range(0, k, DEPTH):
        a = tl.load(a_ptr + i * k + (at + inner)[None, :])
        b = tl.load(b_ptr + (at + inner)[:, None] * BLOCK + j)
        accumulator = tl.dot(a, b, accumulator)
    tl.store(c_ptr + i * BLOCK + j, accumulator)


@triton.jit
def add_tiles(x, y, out, BLOCK: tl.constexpr):
    """out = x + y by descriptors of the host."""
    i, j = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    out.store([i, j], x.load([i, j]) + y.load([i, j]))


@triton.jit
def double_tiles(x_ptr, out_ptr, m, n, BLOCK: tl.constexpr):
    """out = 2 x by descriptors that the kernel makes."""
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [BLOCK, BLOCK])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [BLOCK, BLOCK])
    i, j = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    out.store([i, j], x.load([i, j]) * 2)


@triton.jit
def half(x):
    """Takes a number of 16 bits, of either kind."""


@triton.jit
def checked(x_ptr, n, BLOCK: tl.constexpr):
    """Fails where a number is negative."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.device_assert(x >= 0, "a number is negative")


@triton.jit
def printed(x_ptr):
    """Prints."""
    tl.device_print("x", tl.load(x_ptr))


@triton.jit
def keep(out_ptr, x):
    """out[0] = x, whatever it is."""
    tl.store(out_ptr, x)


@triton.jit
def long_work(out_ptr, rounds, BLOCK: tl.constexpr):
    """out[i] = rounds + i, slowly."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = offsets * 0
    for _ in range(rounds):
        value += 1
    tl.store(out_ptr + offsets, value + offsets)


@triton.jit
def count_programs(out_ptr, n):
    """out = programs that ran, and the sizes of the grid as the last ones see them."""
    tl.atomic_add(out_ptr, 1)
    tl.atomic_max(out_ptr + 1, tl.program_id(0) + 1)
    tl.atomic_max(out_ptr + 2, tl.program_id(1) + 1)
    tl.atomic_max(out_ptr + 3, tl.num_programs(2))

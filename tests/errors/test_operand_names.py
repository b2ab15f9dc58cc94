"""Operands that do not fit: the error names them as the kernel does, points at one, and suggests code that compiles."""

import pytest

from tests.errors.cases import Case, check

ROWS = "offs = tl.arange(0, 64)\n"

CASES = {
    "mask_of_another_length": Case(
        f"{ROWS}keep = tl.arange(0, 32) < n\nv = tl.load(p + offs, mask=keep)",
        at="keep)",
        message="at index 0: 64 and 32: the pointer `p + offs` has shape [64], the mask `keep` has shape [32]",
        notes={"keep = tl": "keep has shape [32]"},
    ),
    "mask_of_fewer_dimensions": Case(
        f"{ROWS}m = offs < n\ncols = tl.arange(0, 32)\nv = tl.load(p + offs[:, None] * n + cols[None, :], mask=m, other=0)",
        at="m, other",
        message="the mask `m` has shape [64]",
        notes={"m = offs": "m has shape [64]"},
        fixes=("mask=‹m›",),
    ),
    "mask_expression_of_fewer_dimensions": Case(
        "cols = tl.arange(0, 32)\nrows = tl.arange(0, 64)\n"
        "tl.store(p + rows[:, None] * n + cols[None, :], 1.0, rows < n)",
        at="rows < n",
        message="the mask `rows < n` has shape [64]",
        hint="write `(rows < n)[:, None]`",
        fixes=("1.0, ‹rows < n›",),
    ),
    "value_of_another_length": Case(
        f"{ROWS}tile = tl.zeros((32,), tl.float32)\ntl.store(p + offs, tile)",
        at="tile)",
        message="the pointer `p + offs` has shape [64], the value `tile` has shape [32]",
        notes={"tile = tl": "tile has shape [32]"},
    ),
    "default_of_another_length": Case(
        f"{ROWS}fill = tl.zeros((32,), tl.float32)\nv = tl.load(p + offs, mask=offs < n, other=fill)",
        at="fill)",
        message="the pointer `p + offs` has shape [64], `fill` has shape [32]",
        notes={"fill = tl": "fill has shape [32]"},
    ),
    "block_at_one_address": Case(
        "tile = tl.zeros((32,), tl.float32)\ntl.store(p, tile)",
        at="p, tile",
        message="Value argument cannot be block type if pointer argument is not a block: the pointer `p` is one address,"
        " the value `tile` has shape [32]",
        notes={"tile = tl": "tile has shape [32]"},
        fixes=("‹p›, tile",),
    ),
    "mask_at_one_address": Case(
        f"{ROWS}v = tl.load(p, mask=offs < n)",
        at="p, mask",
        message="Mask argument cannot be block type if pointer argument is not a block: the pointer `p` is one address",
        hint="the pointer needs offsets: `p + tl.arange(0, 64)`",
        fixes=("‹p›, mask=offs < n",),
    ),
    "mask_of_integers": Case(
        f"{ROWS}v = tl.load(p + offs, mask=offs)",
        at="offs)\n",
        message="Mask must have boolean scalar type, got int32: the mask `offs` has type <[64], int32>",
        notes={"offs = tl": "offs has type <[64], int32>"},
        hint="compare it: `offs != 0`",
        fixes=("mask=‹offs›",),
    ),
    "atomic_with_a_mask_of_another_length": Case(
        f"{ROWS}keep = tl.arange(0, 32) < n\ntl.atomic_add(p + offs, 1.0, mask=keep)",
        at="keep)",
        message="the mask `keep` has shape [32], the pointer `p + offs` has shape [64]",
        notes={"keep = tl": "keep has shape [32]"},
    ),
    "sum_of_rows_and_columns": Case(
        "rows = tl.arange(0, 64)\ncols = tl.arange(0, 32)\ntl.store(p + (rows + cols), 1.0)",
        at="rows + cols",
        message="incompatible dimensions at index 0: 64 and 32: `rows` has shape [64], `cols` has shape [32]",
        notes={"rows = tl": "rows has shape [64]", "cols = tl": "cols has shape [32]"},
        fixes=("‹rows› + cols",),
    ),
    "sum_of_a_tile_and_a_vector": Case(
        "tile = tl.zeros((64, 32), tl.float32)\nbias = tl.load(p + tl.arange(0, 64))\ny = tile + bias",
        at="tile + bias",
        message="`tile` has shape [64, 32], `bias` has shape [64]",
        notes={"tile = tl": "tile has shape [64, 32]", "bias = tl": "bias has shape [64]"},
        fixes=("tile + ‹bias›",),
    ),
    "comparison": Case(
        "a = tl.arange(0, 64)\nb = tl.arange(0, 32)\ny = a < b",
        at="a < b",
        message="`a` has shape [64], `b` has shape [32]",
        fixes=("‹a› < b",),
    ),
    "function_of_two_blocks": Case(
        "a = tl.arange(0, 64)\nb = tl.arange(0, 32)\ny = tl.join(a, b)",
        at="b)",
        message="`a` has shape [64], `b` has shape [32]",
    ),
    "condition_of_where": Case(
        "a = tl.arange(0, 64)\nb = tl.arange(0, 32)\ny = tl.where(a < n, b, 0)",
        at="b, 0",
        message="the condition `a < n` has shape [64], `b` has shape [32]",
    ),
    "dot_of_transposed": Case(
        "a = tl.zeros((16, 32), tl.float16)\nb = tl.zeros((64, 32), tl.float16)\nc = tl.dot(a, b)",
        at="tl.dot(a, b)",
        message="`a` has shape [16, 32], `b` has shape [64, 32]",
        hint="transpose the second: `b.T`",
        fixes=("a, ‹b›)",),
    ),
    "dot_of_two_dtypes": Case(
        "a = tl.zeros((16, 32), tl.float16)\nb = tl.zeros((32, 16), tl.float32)\nc = tl.dot(a, b)",
        at="tl.dot(a, b)",
        message="Both operands must be same dtype. Got fp16 and fp32: `a` has type <[16, 32], fp16>",
        fixes=("a, ‹b›)",),
    ),
    "accumulator_of_another_shape": Case(
        "a = tl.zeros((16, 32), tl.float16)\nacc = tl.zeros((16, 32), tl.float32)\nc = tl.dot(a, a.T, acc)",
        at="acc)",
        message="the accumulator of tl.dot is <[16, 32], fp32>, it must be <[16, 16], fp32>",
        fixes=("a.T, ‹acc›)",),
    ),
    "accumulator_of_another_dtype": Case(
        "a = tl.zeros((16, 32), tl.float16)\nacc = tl.zeros((16, 16), tl.int32)\nc = tl.dot(a, a.T, acc)",
        at="acc)",
        message="tl.dot of fp16 cannot give int32: `acc` has type <[16, 16], int32>",
        hint="start the accumulator with dtype=tl.float32",
    ),
    "arithmetic_with_a_pointer": Case(
        "y = p * 2",
        at="p * 2",
        message="invalid operands of type pointer<fp32> and int32: `p` is a pointer",
        hint="the values there are `tl.load(p)`",
        fixes=("‹p› * 2",),
    ),
    "values_of_a_block_of_pointers": Case(
        f"{ROWS}q = p + offs\ny = q + 1.0",
        at="q + 1.0",
        message="`q` is a pointer",
        notes={"q = p": "q is a pointer"},
        fixes=("‹q› + 1",),
    ),
    "store_of_a_pointer": Case(
        "tl.store(p, p)",
        at="p)\n",
        message="cannot cast pointer<fp32> to fp32: the value `p` is a pointer",
        fixes=("p, ‹p›)",),
    ),
    "load_without_a_pointer": Case(
        f"{ROWS}v = tl.load(offs)",
        at="offs)\n",
        message="Unsupported ptr type <[64], int32> in `tl.load`: the pointer `offs` has type <[64], int32>",
        hint="add offsets to a parameter that is passed a tensor: pointer + offs",
    ),
    "element_of_a_pointer": Case(
        "y = p[n]",
        at="p[n]",
        message="too many indices for a scalar of type pointer<fp32>",
        hint="read memory by `tl.load(p + n)`",
        fixes=("p[n]",),
    ),
    "assignment_to_an_element_of_a_pointer": Case(
        "p[n + 1] = 2.0",
        at="p[n + 1]",
        message="assignment to an element of a scalar of type pointer<fp32>",
        hint="write memory by `tl.store(p + (n + 1), 2.0)`",
        fixes=("p[n + 1] = 2.0",),
    ),
    "bounds_of_a_loop": Case(
        "for i in range(0, n / 2):\n    tl.store(p + i, 1.0)",
        at="n / 2",
        message="must all be ints, are (int32, fp32, int32): `n / 2` has type fp32",
        fixes=("n / 2",),
    ),
    "constant_bound_of_a_loop": Case(
        "for i in range(4.0):\n    tl.store(p + i, 1.0)",
        at="4.0",
        message="`4.0` has type fp32",
        hint="use an integer",
    ),
    "shift_of_a_float": Case(
        "y = 1.5 << n",
        at="1.5 << n",
        message="invalid operands of type fp32 and fp32: `1.5` is a float",
        hint="bitwise operators take integers",
    ),
    "default_without_a_mask": Case(
        f"{ROWS}v = tl.load(p + offs, other=0.0)",
        at="0.0)",
        message="`other` cannot be provided without `mask`",
        hint="it is loaded where a mask is false",
    ),
    "run_time_value_for_a_constant": Case(
        "v = tl.program_id(axis=n)",
        at="tl.program_id",
        message="program_id axis must be 0, 1, or 2 but got a run-time value of type int32",
    ),
    "descriptor_of_other_blocks": Case(
        "d = tl.make_tensor_descriptor(p, [n, n], [n, 1], [8, 32])\ntile = tl.zeros((8, 64), tl.float32)\n"
        "d.store([0, 0], tile)",
        at="tile)",
        message="through a descriptor of blocks [8, 32]: `d` has block shape [8, 32], the value `tile` has shape [8, 64]",
        notes={"d = tl": "d has block shape [8, 32]", "tile = tl": "tile has shape [8, 64]"},
    ),
    "function_imported_by_name": Case(
        f"{ROWS}keep = tl.arange(0, 32) < n\nv = load(p + offs, keep)",
        at="keep)",
        message="the mask `keep` has shape [32]",
        helpers="from tritium.language import load\n",
    ),
    "function_by_its_path": Case(
        f"{ROWS}keep = tl.arange(0, 32) < n\nv = tritium.language.load(p + offs, keep)",
        at="keep)",
        message="the mask `keep` has shape [32]",
        helpers="import tritium.language\n",
    ),
    "error_in_the_library": Case(
        "x = tl.arange(0, 64)\ny = tl.clamp(x.to(tl.float32), tl.zeros((32,), tl.float32), 1.0)",
        at="tl.clamp",
        message="`x.to(tl.float32)` has shape [64], `tl.zeros((32,), tl.float32)` has shape [32]",
        fixes=("x.to(tl.float32)",),
    ),
    "parameters_of_clamp": Case(
        "x, low = tl.zeros((64,), tl.float32), tl.zeros((32,), tl.float32)\ny = tl.clamp(x, low, 1.0)",
        at="tl.clamp",
        message="`x` has shape [64], `low` has shape [32]",
        fixes=("tl.clamp(‹x›, low",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_error_names_the_operands(name, tmp_path):
    check(CASES[name], tmp_path)

"""Addresses and masks of loads as tiles of strided tensors, and the requirements of their forms."""

from __future__ import annotations

from typing import Any

import pytest

from tritium.analysis.affine_addresses import AffineAddresses, Divides, Fits, NotAffine, Remainder
from tritium.analysis.polynomials import Atoms, Polynomial
from tritium.analysis.strided_tiles import StridedTile, strided_tile
from tritium.dialects import tt
from tritium.ir import functions_of, parse_module

HEAD = """
module {
  tt.func public @f(%x: !tt.ptr<f16>, %m: i32, %n: i32, %s: i32, %t: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c16 = arith.constant 16 : i32
    %c32 = arith.constant 32 : i32
    %p = tt.get_program_id x : i32
    %q = tt.get_program_id y : i32
    %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %r16 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %col = tt.expand_dims %r16 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %cols = tt.broadcast %col : tensor<1x16xi32> -> tensor<32x16xi32>
    %first = arith.muli %p, %c32 : i32
    %firsts = tt.splat %first : i32 -> tensor<32xi32>
    %at = arith.addi %firsts, %r32 : tensor<32xi32>
"""

ROWS = """
    %row = tt.expand_dims INDEX {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %stride = tt.splat %s : i32 -> tensor<32x1xi32>
    %scaled = arith.muli %row, %stride : tensor<32x1xi32>
    %rows = tt.broadcast %scaled : tensor<32x1xi32> -> tensor<32x16xi32>
    %offsets = arith.addi %rows, %cols : tensor<32x16xi32>
    %base = tt.splat %x : !tt.ptr<f16> -> tensor<32x16x!tt.ptr<f16>>
    %ptrs = tt.addptr %base, %offsets : tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi32>
"""

LOAD = """
    %v = tt.load %ptrs : tensor<32x16x!tt.ptr<f16>>
"""


def function(body: str, index: str = "%at") -> Any:
    text = f"{HEAD}{body.replace('INDEX', index)}    tt.return\n  }}\n}}\n"
    return next(iter(functions_of(parse_module(text))))


def tile_in(body: str, index: str = "%at") -> tuple[AffineAddresses, StridedTile]:
    func = function(body, index)
    addresses = AffineAddresses(func.entry)
    return addresses, strided_tile(addresses, next(op for op in func.walk() if isinstance(op, tt.Load)))


def show(addresses: AffineAddresses, polynomial: Polynomial | None) -> str:
    """A polynomial with the names of its atoms, sorted."""
    if polynomial is None:
        return "-"
    terms = []
    for monomial, number in polynomial:
        names = sorted(name_of(addresses, addresses.atoms[n]) for n in monomial)
        terms.append("*".join([*([str(number)] if number != 1 or not names else []), *names]))
    return " + ".join(sorted(terms)) or "0"


def name_of(addresses: AffineAddresses, atom: Any) -> str:
    if isinstance(atom, Remainder):
        return f"({show(addresses, atom.dividend)} % {show(addresses, atom.divisor)})"
    return str(atom.hint)


def described(body: str, index: str = "%at") -> list[str]:
    """The offset of the base, then stride, start, size and extent of each dimension."""
    addresses, tile = tile_in(body, index)
    rows = [
        f"{show(addresses, d.stride)}: {show(addresses, d.start)} + {d.size} < {show(addresses, d.extent)}"
        for d in tile.dimensions
    ]
    assert tile.base.hint == "x"
    return [show(addresses, tile.offset), *rows]


def in_loop(
    body: str, low: str = "%c0", step: str = "%c1", carried: str = "%ptrs", ty: str = "tensor<32x16x!tt.ptr<f16>>"
) -> str:
    return f"    %e = scf.for %k = {low} to %n step {step} iter_args(%i = {carried}) -> ({ty}) : i32 {{\n{body}    }}\n"


def test_rows_of_a_matrix() -> None:
    assert described(ROWS + LOAD) == ["0", "s: 32*p + 32 < -", "1: 0 + 16 < -"]


def test_operands_of_products_and_sums_in_any_order() -> None:
    text = ROWS.replace("%row, %stride :", "%stride, %row :").replace("%rows, %cols :", "%cols, %rows :")
    assert described(text + LOAD) == ["0", "s: 32*p + 32 < -", "1: 0 + 16 < -"]


def test_two_additions_to_the_pointer() -> None:
    text = ROWS.replace("%offsets = arith.addi %rows, %cols : tensor<32x16xi32>", "")
    text = text.replace("%ptrs = tt.addptr %base, %offsets", "%near = tt.addptr %base, %rows")
    text += "    %ptrs = tt.addptr %near, %cols : tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi32>\n"
    assert described(text + LOAD) == ["0", "s: 32*p + 32 < -", "1: 0 + 16 < -"]


def test_offsets_of_64_bits() -> None:
    text = ROWS.replace(
        "    %scaled", "    %wide = arith.extsi %row : tensor<32x1xi32> to tensor<32x1xi64>\n    %scaled"
    )
    text = text.replace(
        "%stride = tt.splat %s : i32 -> tensor<32x1xi32>",
        "%sw = arith.extsi %s : i32 to i64\n    %stride = tt.splat %sw : i64 -> tensor<32x1xi64>",
    )
    text = text.replace("arith.muli %row, %stride : tensor<32x1xi32>", "arith.muli %wide, %stride : tensor<32x1xi64>")
    text = text.replace(
        "%scaled : tensor<32x1xi32> -> tensor<32x16xi32>", "%scaled : tensor<32x1xi64> -> tensor<32x16xi64>"
    )
    text = text.replace(
        "%offsets = arith.addi %rows, %cols : tensor<32x16xi32>",
        "%cw = arith.extsi %cols : tensor<32x16xi32> to tensor<32x16xi64>\n    %offsets = arith.addi %rows, %cw : tensor<32x16xi64>",
    )
    text = text.replace(
        "tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi32>", "tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi64>"
    )
    assert described(text + LOAD) == ["0", "s: 32*p + 32 < -", "1: 0 + 16 < -"]


def test_a_batch_is_a_dimension_of_size_1() -> None:
    text = "    %skip = arith.muli %q, %t : i32\n    %y = tt.addptr %x, %skip : !tt.ptr<f16>, i32\n"
    text += ROWS.replace("tt.splat %x", "tt.splat %y") + LOAD
    assert described(text) == ["0", "s: 32*p + 32 < -", "1: 0 + 16 < -", "t: q + 1 < -"]


def test_an_offset_of_arguments_belongs_to_the_base() -> None:
    text = "    %skip = arith.muli %m, %t : i32\n    %y = tt.addptr %x, %skip : !tt.ptr<f16>, i32\n"
    text += ROWS.replace("tt.splat %x", "tt.splat %y") + LOAD
    assert described(text) == ["m*t", "s: 32*p + 32 < -", "1: 0 + 16 < -"]


def test_constant_strides_take_the_largest_that_divides() -> None:
    text = ROWS.replace("tt.splat %s : i32 -> tensor<32x1xi32>", "arith.constant dense<1024> : tensor<32x1xi32>")
    assert described(text + LOAD) == ["0", "1024: 32*p + 32 < -", "1: 0 + 16 < -"]


def test_a_pointer_that_a_loop_advances() -> None:
    step = "    %d = arith.constant dense<16> : tensor<32x16xi32>\n"
    body = "      %v = tt.load %i : tensor<32x16x!tt.ptr<f16>>\n"
    body += "      %w = tt.addptr %i, %d : tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi32>\n"
    body += "      scf.yield %w : tensor<32x16x!tt.ptr<f16>>\n"
    assert described(ROWS + step + in_loop(body)) == ["0", "s: 32*p + 32 < -", "1: 16*k + 16 < -"]
    late = described(ROWS + step + in_loop(body, "%c32", "%c2"))
    assert (late[0], late[2]) == ("-256", "1: 8*k + 16 < -")
    assert described(ROWS + step + in_loop(body, "%p", "%c16"))[2] == "1: -1*p + k + 16 < -"
    for low, by in (("%c0", "%c32"), ("%c0", "%m")):  # the increment is no multiple; the step is not constant
        with pytest.raises(NotAffine, match="step"):
            described(ROWS + step + in_loop(body, low, by))


def test_rows_that_a_loop_advances() -> None:
    """By a stride that is an argument; the increment comes from outside or from inside of the loop."""
    far = "    %far = arith.muli %s, %c16 : i32\n    %d = tt.splat %far : i32 -> tensor<32x16xi32>\n"
    body = "      %v = tt.load %i : tensor<32x16x!tt.ptr<f16>>\n"
    body += "      %w = tt.addptr %i, %d : tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi32>\n"
    body += "      scf.yield %w : tensor<32x16x!tt.ptr<f16>>\n"
    wanted = ["0", "s: 16*k + 32*p + 32 < -", "1: 0 + 16 < -"]
    assert described(ROWS + far + in_loop(body)) == wanted
    assert described(ROWS + in_loop(far + body)) == wanted
    changing = far.replace("%s, %c16", "%k, %c16")
    with pytest.raises(NotAffine, match="changes in the loop"):
        described(ROWS + in_loop(changing + body))


def test_a_loop_that_advances_elements_differently() -> None:
    body = "      %v = tt.load %i : tensor<32x16x!tt.ptr<f16>>\n"
    body += "      %w = tt.addptr %i, %cols : tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi32>\n"
    body += "      scf.yield %w : tensor<32x16x!tt.ptr<f16>>\n"
    with pytest.raises(NotAffine, match="different amounts"):
        described(ROWS + in_loop(body))


def test_a_carried_index() -> None:
    body = ROWS.replace("INDEX", "%here") + LOAD
    body = "    %is = tt.splat %i : i32 -> tensor<32xi32>\n    %here = arith.addi %is, %at : tensor<32xi32>\n" + body
    body += "    %j = arith.addi %i, %c32 : i32\n    scf.yield %j : i32\n"
    assert described(in_loop(body, carried="%m", ty="i32"))[1] == "s: 32*k + 32*p + m + 32 < -"
    back = body.replace("arith.addi %i, %c32", "arith.subi %i, %c32")
    assert described(in_loop(back, carried="%m", ty="i32"))[1] == "s: -32*k + 32*p + m + 32 < -"


def test_a_counter_that_repeats_the_induction_variable() -> None:
    """`i = p - 16; for k in range(p, n, 16): i += 16`: the next i is k."""
    body = "    %j = arith.addi %i, %c16 : i32\n    %js = tt.splat %j : i32 -> tensor<32xi32>\n"
    body += "    %here = arith.addi %js, %r32 : tensor<32xi32>\n" + ROWS.replace("INDEX", "%here") + LOAD
    body += "    scf.yield %j : i32\n"
    text = "    %before = arith.subi %p, %c16 : i32\n" + in_loop(body, "%p", "%c16", "%before", "i32")
    assert described(text)[1] == "s: k + 32 < -"


def test_values_of_a_loop_that_depend_on_each_other_are_atoms() -> None:
    body = ROWS.replace("INDEX", "%here") + LOAD
    body = "    %is = tt.splat %i : i32 -> tensor<32xi32>\n    %here = arith.addi %is, %r32 : tensor<32xi32>\n" + body
    text = "    %e:2 = scf.for %k = %c0 to %n step %c1 iter_args(%i = %m, %j = %p) -> (i32, i32) : i32 {\n" + body
    text += (
        "    %a = arith.addi %i, %j : i32\n    %b = arith.addi %j, %i : i32\n    scf.yield %a, %b : i32, i32\n    }\n"
    )
    assert described(text)[1] == "s: i + 32 < -"


WRAPPED = """
    %ms = tt.splat %m : i32 -> tensor<32xi32>
    %in = arith.remsi %at, %ms : tensor<32xi32>
"""


def test_rows_that_are_moved_after_they_wrapped() -> None:
    moved = (
        WRAPPED
        + """
    %far = arith.constant dense<16> : tensor<32xi32>
    %moved = arith.addi %in, %far : tensor<32xi32>
"""
    )
    assert described(moved + ROWS + LOAD, "%moved")[1] == "s: (32*p % m) + 16 + 32 < 16 + m"


def test_wrapped_rows_need_a_divisible_modulus() -> None:
    assert described(WRAPPED + ROWS + LOAD, "%in") == ["0", "s: (32*p % m) + 32 < m", "1: 0 + 16 < -"]
    addresses, tile = tile_in(WRAPPED + ROWS + LOAD, "%in")
    (needed,) = [r for r in tile.requirements if isinstance(r, Divides)]
    assert needed.divisor == 32 and show(addresses, needed.value) == "m"


@pytest.mark.parametrize(("modulus", "fine"), [(64, True), (48, False), (0, False), (-32, False)])
def test_a_constant_modulus_is_checked_at_once(modulus: int, fine: bool) -> None:
    text = WRAPPED.replace("tt.splat %m : i32 -> tensor<32xi32>", f"arith.constant dense<{modulus}> : tensor<32xi32>")
    if fine:
        assert described(text + ROWS + LOAD, "%in")[1] == "s: (32*p % 64) + 32 < 64"
        return
    with pytest.raises(NotAffine, match="wraps at"):
        described(text + ROWS + LOAD, "%in")


def test_wrapped_rows_that_begin_anywhere_are_not_affine() -> None:
    text = WRAPPED.replace("%at, %ms", "%odd, %ms")
    text = "    %os = tt.splat %n : i32 -> tensor<32xi32>\n    %odd = arith.addi %os, %r32 : tensor<32xi32>\n" + text
    with pytest.raises(NotAffine, match="multiples of their size, 32"):
        described(text + ROWS + LOAD, "%in")


REPLACED = """
    %zeros = arith.constant dense<0> : tensor<32xi32>
    %ms = tt.splat %m : i32 -> tensor<32xi32>
    %inside = arith.cmpi slt, %at, %ms : tensor<32xi32>
    %in = arith.select %inside, %at, %zeros HINT : tensor<32xi1>, tensor<32xi32>
"""


def test_replaced_rows_need_a_hint() -> None:
    hint = "{tt.contiguity = dense<32> : tensor<1xi32>}"
    assert described(REPLACED.replace("HINT", hint) + ROWS + LOAD, "%in")[1] == "s: 32*p + 32 < m"
    for other in ("", "{tt.contiguity = dense<16> : tensor<1xi32>}"):
        with pytest.raises(NotAffine, match="max_contiguous"):
            described(REPLACED.replace("HINT", other) + ROWS + LOAD, "%in")


MASKED = """
    %lims = tt.splat LIMIT : i32 -> tensor<1x16xi32>
    %low = arith.cmpi PREDICATE, OPERANDS : tensor<1x16xi32>
    %mask = tt.broadcast %low : tensor<1x16xi1> -> tensor<32x16xi1>
    %v = tt.load %ptrs, %mask : tensor<32x16x!tt.ptr<f16>>
"""


@pytest.mark.parametrize(
    ("predicate", "operands", "extent"),
    [
        ("slt", "%col, %lims", "n"), ("sle", "%col, %lims", "1 + n"), ("sgt", "%lims, %col", "n"),
        ("sge", "%lims, %col", "1 + n"), ("ult", "%col, %lims", ""), ("ne", "%col, %lims", ""),
        ("sgt", "%col, %lims", ""),
    ],
)  # fmt: skip
def test_comparisons(predicate: str, operands: str, extent: str) -> None:
    body = ROWS + MASKED.replace("LIMIT", "%n").replace("PREDICATE", predicate).replace("OPERANDS", operands)
    if extent:
        assert described(body)[2] == f"1: 0 + 16 < {extent}"
        return
    with pytest.raises(NotAffine, match="mask|bound"):
        described(body)


def test_a_bound_that_moves_with_the_pointer() -> None:
    """`k * 16 + [0 : 16] < n`, and the same written as `[0 : 16] < n - k * 16`."""
    mask = MASKED.replace("PREDICATE", "slt").replace("OPERANDS", "%col, %lims").replace("%ptrs", "%i")
    body = "    %done = arith.muli %k, %c16 : i32\n    %left = arith.subi %n, %done : i32\n"
    body += mask.replace("LIMIT", "%left")
    body += "    %w = tt.addptr %i, %d : tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi32>\n"
    body += "    scf.yield %w : tensor<32x16x!tt.ptr<f16>>\n"
    step = "    %d = arith.constant dense<16> : tensor<32x16xi32>\n"
    assert described(ROWS + step + in_loop(body))[2] == "1: 16*k + 16 < n"


def test_conjunctions_and_lower_bounds() -> None:
    mask = """
    %zs = arith.constant dense<0> : tensor<32x1xi32>
    %ms = tt.splat %m : i32 -> tensor<32x1xi32>
    %above = arith.cmpi sge, %row, %zs : tensor<32x1xi32>
    %below = arith.cmpi slt, %row, %ms : tensor<32x1xi32>
    %both = arith.andi %above, %below : tensor<32x1xi1>
    %mask = tt.broadcast %both : tensor<32x1xi1> -> tensor<32x16xi1>
    %v = tt.load %ptrs, %mask : tensor<32x16x!tt.ptr<f16>>
"""
    addresses, tile = tile_in(ROWS + mask)
    assert show(addresses, tile.dimensions[0].extent) == "m" and tile.dimensions[0].above_zero
    assert not tile.dimensions[1].above_zero
    other = mask.replace("arith.constant dense<0> : tensor<32x1xi32>", "tt.splat %t : i32 -> tensor<32x1xi32>")
    with pytest.raises(NotAffine, match="lower bound"):
        tile_in(ROWS + other)


GATHERED = """%g = tt.splat %x : !tt.ptr<f16> -> tensor<32x!tt.ptr<f16>>
    %gs = tt.bitcast %g : tensor<32x!tt.ptr<f16>> -> tensor<32x!tt.ptr<i32>>
    %bad = tt.load %gs : tensor<32x!tt.ptr<i32>>"""


@pytest.mark.parametrize(
    ("index", "why"),
    [
        ("%bad = arith.divsi %at, %at : tensor<32xi32>", "arith.divsi"),
        ("%bad = arith.muli %at, %at : tensor<32xi32>", "an index times an index"),
        ("%bad = arith.remsi %at, %r32 : tensor<32xi32>", "modulo different"),
        (GATHERED, "tt.load"),
    ],
)
def test_other_addresses_are_refused_by_name(index: str, why: str) -> None:
    func = function(f"    {index}\n{ROWS}{LOAD}", "%bad")
    load = [op for op in func.walk() if isinstance(op, tt.Load)][-1]
    with pytest.raises(NotAffine, match=why):
        strided_tile(AffineAddresses(func.entry), load)


def test_a_scalar_from_memory_is_an_atom() -> None:
    text = "    %pi = tt.bitcast %x : !tt.ptr<f16> -> !tt.ptr<i32>\n    %g = tt.load %pi : !tt.ptr<i32>\n"
    text += "    %gs = tt.splat %g : i32 -> tensor<32xi32>\n    %here = arith.addi %gs, %r32 : tensor<32xi32>\n"
    func = function(text + ROWS + LOAD, "%here")
    addresses = AffineAddresses(func.entry)
    tile = strided_tile(addresses, [op for op in func.walk() if isinstance(op, tt.Load)][-1])
    assert show(addresses, tile.dimensions[0].start) == "g"


def test_arithmetic_of_the_kernel_is_required_not_to_overflow() -> None:
    addresses, tile = tile_in(ROWS + LOAD)
    fits = {(show(addresses, r.offset), r.shape, r.bits) for r in tile.requirements if isinstance(r, Fits)}
    assert fits >= {("32*p", (), 32), ("32*p", (32,), 32), ("32*p*s", (32, 1), 32), ("32*p*s", (32, 16), 32)}


def test_polynomials() -> None:
    atoms = Atoms()
    a, b, one = atoms.polynomial("a"), atoms.polynomial("b"), Polynomial.of(1)
    assert (a + b) * (a - b) == a * a - b * b and not a - a and (a * b).atoms == {0, 1}
    assert (
        (a * b * b).quotient(b) == a * b and (a + b).quotient(b) is None and a.scaled(4).quotient(b.scaled(2)) is None
    )
    assert (a.scaled(6) + Polynomial.of(4)).divided(2) == a.scaled(3) + Polynomial.of(2)
    assert (a.scaled(6) + one).divided(2) is None
    assert Polynomial.of(5).number == 5 and Polynomial.of(0).number == 0 and a.number is None

"""Which functions of reductions commute."""

from __future__ import annotations

import pytest

import tritium.dialects.all  # noqa: F401
from tritium.analysis.combine import Order, combine_of
from tritium.dialects import tt
from tritium.ir import parse_module

KERNEL = """tt.func @f({params}) {{
  %r:{n} = "tt.reduce"({args}) <{{axis = 0 : i32}}> ({{
  ^bb0({inner}):
{body}
    tt.reduce.return {results} : {types}
  }}) : ({tensors}) -> ({types})
  tt.return
}}"""


def order_of(types, body, results):
    n = len(types)
    inner = ", ".join(f"%{s}{i}: {t}" for s in "ab" for i, t in enumerate(types))
    text = KERNEL.format(
        params=", ".join(f"%x{i}: tensor<8x{t}>" for i, t in enumerate(types)),
        n=n, args=", ".join(f"%x{i}" for i in range(n)), inner=inner, body=body,
        results=", ".join(results), types=", ".join(types), tensors=", ".join(f"tensor<8x{t}>" for t in types),
    )  # fmt: skip
    (op,) = (op for op in parse_module(text).walk() if isinstance(op, tt.Reduce))
    return combine_of(op.combine.block)


@pytest.mark.parametrize(
    "name, ty", [("addf", "f32"), ("muli", "i32"), ("maximumf", "f16"), ("xori", "i1"), ("minui", "i8")]
)
def test_one_operation(name, ty):
    found = order_of([ty], f"%c = arith.{name} %a0, %b0 : {ty}", ["%c"])
    assert (found.order, found.operation, found.size) == (Order.SYMMETRIC, f"arith.{name}", 1)


@pytest.mark.parametrize(
    "text, pure, order",
    [
        ("max.NaN.xorsign.abs.f32 $0, $1, $2;", True, Order.SYMMETRIC),
        (" {\\0A add.rn.f32 $0, $2, $1;\\0A}\\0A", True, Order.SYMMETRIC),
        ("sub.f32 $0, $1, $2;", True, Order.ORDERED),
        ("max.f32 $0, $1, $1;", True, Order.ORDERED),
        ("add.f32 $0, $1, $2; sub.f32 $0, $0, $1;", True, Order.ORDERED),
        ("add.f32 $0, $1, $2;", False, Order.ORDERED),
    ],
)
def test_assembly(text, pure, order):
    """One instruction that commutes is an operation that does; of more nothing is known."""
    attributes = f'{{constraints = "=r,r,r", packed_element = 1 : i32, pure = {str(pure).lower()}}}'
    body = f'%c = tt.elementwise_inline_asm "{text}" {attributes} %a0, %b0 : f32, f32 -> f32'
    assert order_of(["f32"], body, ["%c"]).order is order


@pytest.mark.parametrize(
    "types, body, results, order",
    [
        (["i32"], "%c = arith.subi %a0, %b0 : i32", ["%c"], Order.ORDERED),
        (["f32"], "", ["%a0"], Order.ORDERED),
        (["f32", "f32"], "%c = arith.addf %a0, %b0 : f32\n%d = arith.mulf %b1, %a1 : f32", ["%c", "%d"], Order.SYMMETRIC),
        (["f32", "f32"], "%c = arith.addf %a0, %b1 : f32\n%d = arith.addf %a1, %b0 : f32", ["%c", "%d"], Order.ORDERED),
        (["f32"], "%g = arith.cmpf ogt, %a0, %b0 : f32\n%c = arith.select %g, %a0, %b0 : f32", ["%c"], Order.COMMUTATIVE),
        (
            ["f32", "i32"],
            ("%g = arith.cmpf ogt, %a0, %b0 : f32\n%c = arith.select %g, %a0, %b0 : f32\n"
            "%i = arith.select %g, %a1, %b1 : i32"),
            ["%c", "%i"],
            Order.ORDERED,  # of equal values the one on the right
        ),
        (
            ["f32"],
            ("%s = arith.addf %a0, %b0 : f32\n%k = arith.constant 100.0 : f32\n"
            "%g = arith.cmpf ogt, %s, %k : f32\n%c = arith.select %g, %a0, %s : f32"),
            ["%c"],
            Order.ORDERED,  # only where the sum is large
        ),
        (
            ["f32", "f32"],
            ("%n = arith.addf %a1, %b1 : f32\n%d = arith.subf %b0, %a0 : f32\n%r = arith.divf %b1, %n : f32\n"
            "%e = arith.mulf %d, %r : f32\n%m = arith.addf %a0, %e : f32"),
            ["%m", "%n"],
            Order.COMMUTATIVE,  # a mean with its weight; two of weight zero have none
        ),
        (
            ["f32", "f32"],
            ("%c = arith.mulf %a0, %a1 : f32\n%d = arith.mulf %b0, %b1 : f32\n%e = arith.addf %c, %d : f32\n"
            "%f = arith.constant 1.0 : f32"),
            ["%e", "%f"],
            Order.COMMUTATIVE,  # one of the products may be rounded with the sum, the other not
        ),
        (["f32"], "%c = math.erf %a0 : f32\n%d = math.erf %b0 : f32\n%e = arith.addf %d, %c : f32", ["%e"], Order.SYMMETRIC),
        (["f32"], "%c = math.copysign %a0, %b0 : f32", ["%c"], Order.ORDERED),  # no samples of it
    ],
)  # fmt: skip
def test_several_operations(types, body, results, order):
    assert order_of(types, body, results).order is order

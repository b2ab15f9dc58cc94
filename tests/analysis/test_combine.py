"""Which functions of reductions commute."""

from __future__ import annotations

import numpy as np
import pytest

import tritium.dialects.all  # noqa: F401
from tritium.analysis.combine import Order, combine_of, identity_element
from tritium.dialects import tt
from tritium.interpreter.evaluator import run
from tritium.ir import parse_module, parse_type

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


INTEGERS = ("addi", "muli", "andi", "ori", "xori", "maxui", "minui", "maxsi", "minsi")
FLOATS = ("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf")


@pytest.mark.parametrize(
    "name, ty", [*((n, t) for n in INTEGERS for t in ("i1", "i8", "i64")), *((n, "f32") for n in FLOATS)]
)
def test_the_identity_element_changes_no_value(name, ty):
    """By the evaluator, on all values of a few bits, or on limits and special values."""
    text = f"tt.func public @f(%p: !tt.ptr<{ty}>, %e: {ty}) {{\n  %x = tt.load %p : !tt.ptr<{ty}>\n"
    for i, operands in enumerate(("%e, %x", "%x, %e")):
        text += f"  %o{i} = arith.constant {i + 1} : i32\n  %q{i} = tt.addptr %p, %o{i} : !tt.ptr<{ty}>, i32\n"
        text += f"  %y{i} = arith.{name} {operands} : {ty}\n  tt.store %q{i}, %y{i} : !tt.ptr<{ty}>\n"
    module = parse_module(text + "  tt.return\n}")
    identity = identity_element(f"arith.{name}", parse_type(ty))
    dtype = {"i1": np.bool_, "i8": np.int8, "i64": np.int64, "f32": np.float32}[ty]
    inf = float("inf")
    values = {
        "i1": [0, 1],
        "i8": range(-128, 128),
        "i64": [-(2**63), -1, 0, 5, 2**63 - 1],
        "f32": [0.0, -0.0, 2.5, -inf, inf],
    }
    for value in values[ty]:
        memory = np.array([value, 0, 0], dtype)
        run(module, 1, [memory, identity])
        assert memory.tobytes() == np.array([value] * 3, dtype).tobytes(), value

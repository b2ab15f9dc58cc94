"""Names and results with two types: the error is at the assignment or return that gives the second type."""

import pytest

from tests.errors.cases import Case, check

CASES = {
    "loop_widens_a_block": Case(
        """
acc = tl.zeros((64,), tl.float16)
offs = tl.arange(0, 64)
for i in range(n):
    v = tl.load(p + offs)
    acc += v
    offs += 64
tl.store(p, tl.sum(acc))
""",
        at="acc += v",
        message="Loop-carried variable acc has initial type <[64], fp16> but is re-assigned to <[64], fp32> in loop!",
        notes={"acc = tl.zeros": "acc has type <[64], fp16> before the loop"},
        fixes=("acc = tl.zeros((64,), tl.float16)", "acc += v"),
    ),
    "loop_of_a_scalar_becomes_a_block": Case(
        """
acc = 0.0
for i in range(n):
    acc += tl.load(p + tl.arange(0, 64))
tl.store(p + tl.arange(0, 64), acc)
""",
        at="acc += tl.load",
        message="has initial type fp32 but is re-assigned to <[64], fp32> in loop!",
        notes={"acc = 0.0": "acc has type fp32 before the loop"},
        hint="start acc with type <[64], fp32>: `acc = tl.zeros([64], dtype=tl.float32)`",
        fixes=("acc = 0.0",),
    ),
    "loop_starts_with_an_int": Case(
        """
total = 0
for i in range(n):
    total = total + 0.5
    total = total * 2
tl.store(p, total)
""",
        at="total = total + 0.5",
        message="has initial type int32 but is re-assigned to fp32 in loop!",
        notes={"total = 0\n": "total has type int32 before the loop"},
        hint="start total with type fp32: `total = 0.0`, or keep type int32: `total = (total + 0.5).to(tl.int32)`",
        fixes=("‹total = 0›\n    f", "total = total + 0.5"),
    ),
    "loop_changes_a_parameter": Case(
        """
for i in range(4):
    n = n + 0.5
tl.store(p, n)
""",
        at="n = n + 0.5",
        message="Loop-carried variable n has initial type int32 but is re-assigned to fp32",
        notes={"n):": "n has type int32 before the loop"},
        hint="keep type int32",
        fixes=("n = n + 0.5",),
    ),
    "loop_changes_a_shape": Case(
        """
x = tl.zeros((64,), tl.float32)
for i in range(n):
    x = x[None, :]
tl.store(p, tl.sum(x))
""",
        at="x = x[None, :]",
        message="re-assigned to <[1, 64], fp32> in loop!",
        hint="use another name for the value of type <[1, 64], fp32>",
    ),
    "while_loop": Case(
        """
i = 0
while i < n:
    i = i + 1.0
tl.store(p, i)
""",
        at="i = i + 1.0",
        message="Loop-carried variable i has initial type int32",
        notes={"i = 0": "i has type int32 before the loop"},
        fixes=("i = 0", "i = i + 1.0"),
    ),
    "loop_of_none": Case(
        """
best = None
for i in range(n):
    best = tl.load(p + tl.arange(0, 8))
tl.store(p + tl.arange(0, 8), best)
""",
        at="best = tl.load",
        message="Loop-carried variable best is None before the loop and changes inside it",
        notes={"best = None": "best is None before the loop"},
        fixes=("best = None",),
    ),
    "changes_in_a_nested_branch": Case(
        """
m = 0
for i in range(n):
    if i > 3:
        m = tl.maximum(m, 0.5)
tl.store(p, m)
""",
        at="m = tl.maximum",
        message="Mismatched type for m between then block (fp32) and else block (int32)",
        notes={"m = 0": "m has type int32 here"},
        fixes=("m = 0", "m = tl.maximum(m, 0.5)"),
    ),
    "both_branches_change_the_type_in_a_loop": Case(
        """
m = 0
for i in range(n):
    if i > 3:
        m = 0.5
    else:
        m = 1.5
tl.store(p, m)
""",
        at="m = 0.5",
        message="Loop-carried variable m has initial type int32 but is re-assigned to fp32 in loop!",
        notes={"m = 0\n": "m has type int32 before the loop"},
        fixes=("‹m = 0›\n    for",),
    ),
    "branch_of_a_new_name": Case(
        """
if n > 3:
    y = tl.zeros((32,), tl.float32)
else:
    y = 0.0
tl.store(p + tl.arange(0, 32), y)
""",
        at="y = 0.0",
        message="Mismatched type for y between then block (<[32], fp32>) and else block (fp32)",
        notes={"y = tl.zeros": "y has type <[32], fp32> here", "y)": "y is read here"},
        fixes=("y = 0.0",),
    ),
    "else_branch_only": Case(
        """
y = n
if n > 3:
    pass
else:
    y = n * 0.5
tl.store(p, y)
""",
        at="y = n * 0.5",
        message="Mismatched type for y between then block (int32) and else block (fp32)",
        notes={"y = n\n": "y has type int32 here"},
        fixes=("‹y = n›\n    if", "y = n * 0.5"),
    ),
    "pointers_or_values": Case(
        """
q = p
if n > 3:
    q = n
tl.store(p, 0.0)
tl.store(q, 1.0)
""",
        at="q = n",
        message="Mismatched type for q between then block (int32) and else block (pointer<fp32>)",
        notes={"q = p": "q has type pointer<fp32> here"},
        hint="use two names for values of type pointer<fp32> and int32",
    ),
    "returns": Case(
        "tl.store(p, scaled(n))",
        at="return n * 1.5",
        message="Return type mismatch: int32 on one path, fp32 on another",
        notes={"return n\n": "int32 is returned here", "scaled(n))": "scaled is called from k"},
        fixes=("‹return n›\n", "return n * 1.5"),
        helpers="@jit\ndef scaled(n):\n    if n > 3:\n        return n\n    return n * 1.5\n",
    ),
    "returns_on_one_path": Case(
        "tl.store(p, some(n))",
        at="return n\n",
        message="Return type mismatch: int32 on one path, None on another",
        hint="return a value of type int32 at the end of the function too",
        helpers="@jit\ndef some(n):\n    if n > 3:\n        return n\n",
    ),
    "conditional_expression": Case(
        "tl.store(p, 1.0 if n > 2 else n)",
        at="1.0 if n > 2",
        message="Ternary expression with dynamic condition has inconsistent types fp32 and int32",
        fixes=("1.0 if n > 2 else n",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_error_points_at_the_assignment_and_suggests_code_that_compiles(name, tmp_path):
    check(CASES[name], tmp_path)

"""Locations of inlined operations: equal ones are one object, since comparing deep ones takes time."""

from __future__ import annotations

import tritium
import tritium.language as tl
from tritium.backends.cpu import host_target
from tritium.compiler import ASTSource, make_backend
from tritium.support import CallSiteLoc
from tritium.transforms.inliner import inline


@tritium.jit
def step(x, i: tl.constexpr):
    return x * i + 1


@tritium.jit
def steps(x, n: tl.constexpr):
    for i in tl.static_range(n):
        x = step(x, i + 2)
    return x


@tritium.jit
def repeat(out):
    x = tl.arange(0, 16)
    for _ in tl.static_range(3):
        x = steps(x, 4)
    tl.store(out + tl.arange(0, 16), x)


def test_equal_call_sites_are_one_object() -> None:
    backend = make_backend(host_target())
    module = ASTSource(repeat, {"out": "*i32"}, {}).make_ir(backend.target, backend.parse_options({}))
    inline(module)
    found = [op.loc for op in module.walk() if isinstance(op.loc, CallSiteLoc)]
    assert len(found) >= 3 * 4 * 2
    assert len({id(loc) for loc in found}) == len(set(found)) < len(found)

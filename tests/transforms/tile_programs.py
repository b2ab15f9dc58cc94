"""Programs on which the rules of tiles, memory and control flow apply, over all small shapes; texts of functions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from math import prod

DIMS = (1, 2, 4)
Program = Iterator[str]


def shapes(rank: int, most: int = 16) -> list[tuple[int, ...]]:
    """All shapes of one rank with dimensions of `DIMS` and at most `most` elements."""
    return [shape for shape in itertools.product(DIMS, repeat=rank) if prod(shape) <= most]


def tile(shape: tuple[int, ...], element: str = "i32") -> str:
    return f"tensor<{''.join(f'{d}x' for d in shape)}{element}>"


def function(args: str, body: str, results: list[tuple[str, str]]) -> str:
    types = ", ".join(ty for _, ty in results)
    names = ", ".join(name for name, _ in results)
    return f"tt.func public @f({args}) -> ({types}) {{\n{body}\n  tt.return {names} : {types}\n}}"


def broadcasts(rank: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(small, large) pairs of shapes, the second a broadcast of the first."""
    for large in shapes(rank):
        for kept in itertools.product((True, False), repeat=rank):
            yield tuple(d if k else 1 for d, k in zip(large, kept)), large


def reshapes() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    every = [s for rank in (1, 2, 3) for s in shapes(rank, 8)]
    return ((a, b) for a, b in itertools.product(every, every) if prod(a) == prod(b))


def shape_steps(value: str, shape: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """(operation on `value`, shape it gives) for each operation that changes a shape."""
    source = tile(shape)
    for axis in range(len(shape) + 1):
        out = (*shape[:axis], 1, *shape[axis:])
        yield f"tt.expand_dims {value} {{axis = {axis} : i32}} : {source} -> {tile(out)}", out
    for small, large in broadcasts(len(shape)):
        if small == shape:
            yield f"tt.broadcast {value} : {source} -> {tile(large)}", large
    for order in itertools.permutations(range(len(shape))):
        out = tuple(shape[k] for k in order)
        listed = ", ".join(map(str, order))
        yield f"tt.trans {value} {{order = array<i32: {listed}>}} : {source} -> {tile(out)}", out
    for a, b in reshapes():
        if a == shape:
            yield f"tt.reshape {value} : {source} -> {tile(b)}", b


def of_constants() -> Program:
    for rank in (1, 2):
        for shape in shapes(rank, 8):
            for step, out in shape_steps("%c", shape):
                yield function(
                    "", f"  %c = arith.constant dense<7> : {tile(shape)}\n  %a = {step}", [("%a", tile(out))]
                )


def nested(shape: tuple[int, ...], numbers: Iterator[int]) -> str:
    if not shape:
        return str(next(numbers))
    return f"[{', '.join(nested(shape[1:], numbers) for _ in range(shape[0]))}]"


def views_of_constants() -> Program:
    for rank in (1, 2):
        for shape in shapes(rank, 8):
            if prod(shape) > 1:
                constant = f"  %c = arith.constant dense<{nested(shape, itertools.count(3))}> : {tile(shape)}\n"
                for step, out in shape_steps("%c", shape):
                    if step.startswith(("tt.expand_dims", "tt.reshape")):
                        yield function("", f"{constant}  %a = {step}", [("%a", tile(out))])


def of_splats() -> Program:
    for rank in (1, 2):
        for shape in shapes(rank, 8):
            for step, out in shape_steps("%s", shape):
                yield function(
                    "%x: i32", f"  %s = tt.splat %x : i32 -> {tile(shape)}\n  %a = {step}", [("%a", tile(out))]
                )


def once() -> Program:
    for rank in (1, 2):
        for shape in shapes(rank, 8):
            for step, out in shape_steps("%x", shape):
                yield function(f"%x: {tile(shape)}", f"  %a = {step}", [("%a", tile(out))])


def twice() -> Program:
    for rank in (1, 2, 3):
        for shape in shapes(rank, 8 if rank < 3 else 4):
            for first, middle in shape_steps("%x", shape):
                for second, out in shape_steps("%y", middle):
                    if first.split()[0] == second.split()[0] or second.startswith("tt.expand_dims"):
                        yield function(f"%x: {tile(shape)}", f"  %y = {first}\n  %a = {second}", [("%a", tile(out))])


def ranges() -> Program:
    predicates = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
    for start, size in itertools.product((0, 3), (1, 2, 4)):
        ty = tile((size,))
        make = f"  %r = tt.make_range {{end = {start + size} : i32, start = {start} : i32}} : {ty}\n"
        yield function("", make, [("%r", ty)])
        for predicate, c in itertools.product(predicates, range(-1, 9)):
            compare = f"  %c = arith.constant dense<{c}> : {ty}\n  %a = arith.cmpi {predicate}, %r, %c : {ty}"
            yield function("", make + compare, [("%a", tile((size,), "i1"))])


def steps() -> Program:
    predicates = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
    column, row, ty = tile((4, 1)), tile((1, 4)), tile((4, 4))
    for predicate, factor, start in itertools.product(predicates, (2, 4, 12), (0, 1)):
        body = f"""  %c = arith.constant {factor} : i32
  %y = arith.muli %x, %c : i32
  %s = tt.splat %y : i32 -> {tile((4,))}
  %a = tt.make_range {{end = 4 : i32, start = 0 : i32}} : {tile((4,))}
  %b = tt.make_range {{end = {4 + start} : i32, start = {start} : i32}} : {tile((4,))}
  %l = arith.addi %s, %a : {tile((4,))}
  %r = arith.addi %b, %s : {tile((4,))}
  %m = tt.expand_dims %l {{axis = 1 : i32}} : {tile((4,))} -> {column}
  %n = tt.expand_dims %r {{axis = 0 : i32}} : {tile((4,))} -> {row}
  %p = tt.broadcast %m : {column} -> {ty}
  %q = tt.broadcast %n : {row} -> {ty}
  %o = arith.cmpi {predicate}, %p, %q : {ty}"""
        yield function("%x: i32", body, [("%o", tile((4, 4), "i1"))])


def joins() -> Program:
    for rank in (1, 2):
        for shape in shapes(rank, 8):
            small, large = tile(shape), tile((*shape, 2))
            join = f"  %j = tt.join {{0}}, {{1}} : {small} -> {large}\n"
            split = f"  %l, %r = tt.split {{0}} : {large} -> {small}\n"
            constants = f"  %c = arith.constant dense<5> : {small}\n  %d = arith.constant dense<6> : {small}\n"
            both = [("%l", small), ("%r", small)]
            yield function(f"%x: {small}, %y: {small}", join.format("%x", "%y") + split.format("%j"), both)
            for order in (("%l", "%r"), ("%r", "%l"), ("%l", "%l")):
                yield function(f"%x: {large}", split.format("%x") + join.format(*order), [("%j", large)])
            for order in itertools.product(("%c", "%d"), repeat=2):
                yield function("", constants + join.format(*order), [("%j", large)])
            yield function("", f"  %k = arith.constant dense<5> : {large}\n{split.format('%k')}", both)


def elementwise() -> Program:
    """Operations on splats, broadcasts and constants, in all combinations of three operands."""
    for small, large in (((2, 1), (2, 4)), ((1, 4), (2, 4)), ((1, 1), (2, 2)), ((4,), (4,))):
        ty = tile(large)
        makers = {
            "splat": f"tt.splat %n : i32 -> {ty}",
            "constant": f"arith.constant dense<3> : {ty}",
            "broadcast": f"tt.broadcast %x : {tile(small)} -> {ty}",
            "row": f"tt.broadcast %y : {tile(small[::-1] if len(large) > 1 and large[0] == large[1] else small)} -> {ty}",
            "full": f"arith.addi %z, %z : {ty}",
        }
        row = tile(small[::-1] if len(large) > 1 and large[0] == large[1] else small)
        args = f"%n: i32, %x: {tile(small)}, %y: {row}, %z: {ty}"
        for a, b in itertools.product(makers, repeat=2):
            body = f"  %a = {makers[a]}\n  %b = {makers[b]}\n"
            for name in ("addi", "subi", "muli"):
                yield function(args, f"{body}  %r = arith.{name} %a, %b : {ty}", [("%r", ty)])
            mask = tile(large, "i1")
            compare = f"{body}  %c = arith.cmpi slt, %a, %b : {ty}\n  %r = arith.select %c, %a, %b : {mask}, {ty}"
            yield function(args, compare, [("%r", ty)])


PROGRAMS: dict[str, Callable[[], Program]] = {
    "shape_of_constant": of_constants,
    "view_of_constant": views_of_constants,
    "shape_of_splat": of_splats,
    "shape_kept": once,
    "shape_twice": twice,
    "expand_of_broadcast": twice,
    "transpose_twice": twice,
    "range_of_one": ranges,
    "compare_range": ranges,
    "compare_steps": steps,
    "split_of_join": joins,
    "join_of_split": joins,
    "join_or_split_constant": joins,
    "splat_after_elementwise": elementwise,
    "broadcast_after_elementwise": elementwise,
}
"""Rule -> programs; those without are tried on the function of their name in `tests/filetests` alone."""

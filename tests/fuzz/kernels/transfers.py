"""Steps of random kernels: tiles by descriptors of any rank, and rarer forms of loads, stores and atomic operations."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from .accesses import linear, output
from .elements import TYPES, Element
from .writer import SIZE, Refused, Value, Writer, feature, names_of, steps_of

__all__ = ["ORDERS"]

I32, F32 = TYPES["i32"], TYPES["f32"]
ORDERS = ("acquire", "release", "acq_rel", "relaxed")


# -- descriptors -------------------------------------------------------------------------------------------------------


@feature("memory", 1.5)
def descriptor_of_any_rank(w: Writer) -> None:
    """A tile of one, three or four dimensions, over any border; what lies beyond is zero or NaN."""
    e = TYPES[w.choice(("f16", "bf16", "f32", "i32", "i16", "i8"))]
    rank = w.choice((1, 3, 3, 4))
    shape = tuple([w.choice((1, 2, 4)) for _ in range(rank - 1)] + [w.choice((16, 32, 64))])
    if shape[-1] * e.bits < 128:
        raise Refused
    sizes = [w.choice((2, 3, 5)) for _ in range(rank - 1)] + [w.choice((16, 32, 48))]
    wide = sizes[-1] + w.choice((0, 16))
    if prod(sizes[:-1]) * wide > SIZE:
        raise Refused
    nan = e.kind == "f" and w.specials and w.chance(0.4)
    d, name = w.fresh("d"), w.parameter(f"x_{e.name}")
    padding = ', padding_option="nan"' if nan else ""
    w.line(f"{d} = tl.make_tensor_descriptor({name}, {sizes}, {steps_of(sizes, wide)}, {names_of(shape)}{padding})")
    starts = [w.choice(("0", "1", "pid", "-1")) for _ in shape[:-1]] + [w.choice(("0", "8", "16", "-8"))]
    facts = ({"special": True} if nan else {"most": 4.0, "grid": 2}) if e.kind == "f" else {}
    w.add(f"{d}.load([{', '.join(starts)}])", Value("", e, shape, **facts))


def own_descriptor(w: Writer, name: str, v: Value, rows: int) -> str:
    """A descriptor of the program's own part of an array, of so many rows."""
    d, sizes = w.fresh("d"), [rows, *v.shape[1:]]
    strides = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    w.line(f"{d} = tl.make_tensor_descriptor({name} + pid * {prod(v.shape)}, {sizes}, {strides}, {names_of(v.shape)})")
    return d


@feature("memory", 0.7)
def descriptor_store(w: Writer) -> None:
    """Tiles of any rank, over a border."""
    v = w.pick(lambda v: 1 <= len(v.shape) <= 3 and v.shape[-1] * v.element.bits >= 128 and v.element.kind != "b")
    if w.depth or max(v.shape) > 256:
        raise Refused
    d = own_descriptor(w, output(w, v, prod(v.shape)), v, max(v.shape[0] - w.choice((0, 1)), 1))
    w.line(f"{d}.store([{', '.join('0' for _ in v.shape)}], {v.name})")
    w.used[v.name] += 1


@feature("memory", 0.7)
def descriptor_scatter(w: Writer) -> None:
    """Rows to where an index says, each to a place of its own."""
    v = w.pick(lambda v: len(v.shape) == 2 and v.shape[0] in (8, 16, 32) and v.shape[1] in (16, 32))
    if w.depth or v.element.name not in ("f16", "bf16", "f32", "i32", "i16"):
        raise Refused
    rows, columns = v.shape
    name, d = output(w, v, prod(v.shape)), w.fresh("d")
    w.line(
        f"{d} = tl.make_tensor_descriptor({name} + pid * {prod(v.shape)}, [{rows}, {columns}], [{columns}, 1], [1, {columns}])"
    )
    index = w.choice((f"tl.arange(0, {rows})", f"{rows - 1} - tl.arange(0, {rows})", f"tl.arange(0, {rows}) ^ 5"))
    w.line(f"{d}.scatter({v.name}, {index}, 0)")
    w.used[v.name] += 1


@feature("memory", 0.7)
def descriptor_atomic(w: Writer) -> None:
    """A tile added to (or compared with) what is there, by all programs."""
    names = ("i32", "u32", "f32")
    v = w.pick(
        lambda v: (
            v.element.name in names
            and 1 <= len(v.shape) <= 2
            and prod(v.shape) <= 256
            and v.shape[-1] >= 4
            and (v.element.kind != "f" or (v.lattice and v.most * 2.0**v.grid < 2**10))
        )
    )
    if w.depth or max(v.shape) > 256:
        raise Refused
    kind = "add" if v.element.kind == "f" else w.choice(("add", "min", "max", "and", "or", "xor"))
    name = w.fresh("a") + "_" + v.element.name
    w.parameter(name)
    w.outputs[name] = prod(v.shape)
    d = w.fresh("d")
    strides = [1] if len(v.shape) == 1 else [v.shape[1], 1]
    w.line(f"{d} = tl.make_tensor_descriptor({name}, {list(v.shape)}, {strides}, {names_of(v.shape)})")
    w.line(
        f"{d}.atomic_{kind}([{', '.join(w.choice(('0', '1')) for _ in v.shape[:1])}{', 0' * (len(v.shape) - 1)}], {v.name})"
    )
    w.used[v.name] += 1


def host_name(w: Writer, e: Element, sizes: list[int], wide: int, block: tuple[int, ...], nan: bool = False) -> str:
    """A parameter that is a descriptor: `compare.described` reads from its name of what."""
    numbers = ["x".join(map(str, n)) for n in (sizes, block)]
    return w.parameter(f"{w.fresh('h')}s{numbers[0]}w{wide}b{numbers[1]}{'n' if nan else ''}_{e.name}")


@feature("memory", 1.5)
def host_descriptor(w: Writer) -> None:
    """Tiles by a descriptor that the launch passes, over any border, at one place or two."""
    e = TYPES[w.choice(("f16", "bf16", "f32", "i32", "i16", "u8", "e5"))]
    if w.chance(0.5):
        shape = w.choice([s for s in w.shapes if len(s) == 2 and s[-1] * e.bits >= 128 and max(s) <= 256])
    else:
        shape = tuple([w.choice((1, 2, 4)) for _ in range(w.choice((0, 2, 3)))] + [w.choice((16, 32, 64))])
    sizes = [w.choice((2, 5, 16)) for _ in shape[:-1]] + [w.choice((16, 32, 40 if e.bits > 8 else 48))]
    wide = sizes[-1] + w.choice((0, 16))
    if shape[-1] * e.bits < 128 or prod(sizes[:-1]) * wide > SIZE:
        raise Refused
    nan = e.kind == "f" and e.bits > 8 and w.specials and w.chance(0.4)
    name = host_name(w, e, sizes, wide, shape, nan)
    facts = ({"special": True} if nan else {"most": 4.0, "grid": 2}) if e.kind == "f" else {}
    for _ in range(w.choice((1, 1, 2))):
        starts = [w.choice(("0", "1", "pid * 2", "-1")) for _ in shape[:-1]] + [w.choice(("0", "8", "16", "-8"))]
        w.add(f"{name}.load([{', '.join(starts)}])", Value("", e, shape, **facts))


@feature("memory", 1)
def host_descriptor_store(w: Writer) -> None:
    """Each program's tile to a place of its own, or added there; the last may hang over the border."""
    names = ("f16", "bf16", "f32", "i32", "i16", "u8", "e5")
    v = w.pick(lambda v: 1 <= len(v.shape) <= 3 and v.shape[-1] * v.element.bits >= 128 and v.element.name in names)
    if w.depth or max(v.shape) > 256 or (len(v.shape) > 1 and v.shape[-1] * v.element.bits % 128):
        raise Refused
    first = max(v.shape[0] * w.programs - (w.choice((0, 1, v.shape[0] // 2)) if len(v.shape) > 1 else 0), 1)
    sizes = [first, *v.shape[1:]]
    name = host_name(w, v.element, sizes, sizes[-1], v.shape)
    w.outputs[name] = v.shape[0] * w.programs * prod(v.shape[1:])
    if v.error:
        w.tolerances[name] = v.error
    starts = ", ".join([f"pid * {v.shape[0]}", *("0" for _ in v.shape[1:])])
    added = v.element.name == "i32" and w.chance(0.4)
    w.line(f"{name}.{'atomic_add' if added else 'store'}([{starts}], {v.name})")
    w.used[v.name] += 1


# -- loads and stores --------------------------------------------------------------------------------------------------


@feature("memory", 1)
def load_broadcast(w: Writer) -> None:
    """A mask of rows or a single one, and another block in the place of what is masked."""
    v = w.pick(lambda v: len(v.shape) == 2 and v.element.kind != "b" and prod(v.shape) <= 2048)
    if v.special or v.error or v.most > 64 or (v.element.kind == "f" and v.grid is None):
        raise Refused
    rows, columns = v.shape
    n = w.scalar_parameter().name
    mask = w.choice(
        (f"(tl.arange(0, {rows}) < {n})[:, None]", f"(tl.arange(0, {columns}) * 2 < {n})[None, :]", f"{n} > 3")
    )
    other = v.name if w.chance(0.7) else f"{v.name}.to({v.element.tl})"
    facts = {"most": max(4.0, v.most), "grid": max(2, v.grid)} if v.element.kind == "f" else {}
    w.add(
        f"tl.load({w.parameter(f'x_{v.element.name}')} + {linear(v.shape)}, mask={mask}, other={other})",
        Value("", v.element, v.shape, **facts),
    )


@feature("control", 1.5)
def store_in_loop(w: Writer) -> None:
    """A store of each iteration, to places of its own, in a branch now and then."""
    if w.depth:
        raise Refused
    v = w.pick(lambda v: v.shape and v.element.kind in "iu" and v.element.bits >= 32 and prod(v.shape) <= 1024)
    steps, i, c, count = w.choice((1, 2, 3)), w.fresh("i"), w.fresh("c"), prod(v.shape)
    name = output(w, v, steps * count)
    w.line(f"{c} = {v.name}")
    w.line(
        f"for {i} in {w.choice((f'range({steps})', f'tl.range({steps}, num_stages=2)', f'tl.static_range({steps})'))}:"
    )
    inner = "    "
    if w.chance(0.4):
        w.line(f"    if {w.choice((f'{i} != 1', f'pid > {i}', f'{i} + pid < 2'))}:")
        inner = "        "
    where = f"{name} + (pid * {steps} + {i}) * {count} + {linear(v.shape)}"
    mask = f", mask={linear(v.shape)} < {w.scalar_parameter().name}" if w.chance(0.3) else ""
    w.line(f"{inner}tl.store({where}, {c}{mask})")
    w.line(f"    {c} = {c} * 3 + {i}")
    w.used[v.name] += 1


@feature("memory", 0.7)
def store_number(w: Writer) -> None:
    """One number to every place, or a row to all rows."""
    if w.depth:
        raise Refused
    v = w.pick(lambda v: len(v.shape) <= 1 and prod(v.shape) <= 64)
    count = prod(v.shape)
    shape = (w.choice((4, 8)), count)
    name = output(w, v, prod(shape))
    value = v.name if not v.shape else f"{v.name}[None, :]"
    w.line(f"tl.store({name} + pid * {prod(shape)} + {linear(shape)}, {value})")
    w.used[v.name] += 1


@feature("memory", 0.7)
def store_and_load(w: Writer) -> None:
    """Through memory and back, with a barrier between: in another order."""
    if w.depth:
        raise Refused
    v = w.pick(lambda v: len(v.shape) == 1 and v.element.kind in "iu" and v.shape[0] >= 16)
    n = v.shape[0]
    name = output(w, v, n)
    w.line(f"tl.store({name} + pid * {n} + tl.arange(0, {n}), {v.name})")
    w.line("tl.debug_barrier()")
    index = w.choice((f"{n - 1} - tl.arange(0, {n})", f"(tl.arange(0, {n}) + 5) % {n}", f"(tl.arange(0, {n}) ^ 1)"))
    if "^" in index and n % 2:
        raise Refused
    w.add(f"tl.load({name} + pid * {n} + {index})", replace(v))


# -- atomics -----------------------------------------------------------------------------------------------------------


@feature("memory", 1)
def atomic_orders(w: Writer) -> None:
    """Every order and scope, on a place of each lane's own; what was there is kept or not."""
    if w.depth:
        raise Refused
    v = w.pick(lambda v: v.element.name in ("i32", "i64", "u32", "u64") and prod(v.shape) <= 256)
    e, count = v.element, prod(v.shape)
    name = w.fresh("a") + "_" + e.name
    w.parameter(name)
    w.outputs[name] = count * w.programs
    at = f"{name} + pid * {count}" + (f" + {linear(v.shape)}" if v.shape else "")
    how = f', sem="{w.choice(ORDERS)}", scope="{w.choice(("cta", "gpu", "sys"))}"'
    kind = w.choice(("add", "xchg", "max", "min", "and", "or", "xor", "cas"))
    mask = f", mask={v.name} > 2" if kind not in ("cas",) and v.shape and w.chance(0.4) else ""
    text = (
        f"tl.atomic_cas({at}, {v.name} & 1, {v.name}{how})"
        if kind == "cas"
        else f"tl.atomic_{kind}({at}, {v.name}{mask}{how})"
    )
    if mask or w.chance(0.4):
        w.line(text)  # what a masked one finds has no meaning
        w.used[v.name] += 1
    else:
        w.add(text, Value("", e, v.shape))


@feature("memory", 0.7)
def atomic_loop(w: Writer) -> None:
    """Added to in a loop and in a branch."""
    if w.depth:
        raise Refused
    v = w.pick(lambda v: v.element.name in ("i32", "u32", "i64") and v.shape and prod(v.shape) <= 128)
    name = w.fresh("a") + "_" + v.element.name
    w.parameter(name)
    w.outputs[name] = 32
    i = w.fresh("i")
    w.line(f"for {i} in range({w.choice(('2', '3', 'pid'))}):")
    w.line(f"    if {w.choice((f'{i} > 0', f'pid > {i}', f'{i} + pid != 1'))}:")
    how = w.choice(("", ', sem="relaxed"', ', sem="release"'))
    w.line(f"        tl.atomic_add({name} + ({linear(v.shape)}) % {w.choice((1, 8, 32))}, {v.name} + {i}{how})")
    w.used[v.name] += 1


@feature("memory", 0.7)
def atomic_floats(w: Writer) -> None:
    """Sums and extremes of floats that are exact in any order, also of two bytes."""
    if w.depth:
        raise Refused
    v = w.pick(
        lambda v: v.element.name in ("f16", "bf16", "f32", "f64") and v.lattice and v.shape and 0 < prod(v.shape) <= 128
    )
    e = v.element
    kind = w.choice(("add", "max", "min") if e.bits >= 32 else ("add",))
    places = 128
    if kind == "add" and not w.fits(e, 4.0 + 2 * v.most * w.programs, max(v.grid, 2)):
        raise Refused
    name = w.fresh("a") + "_" + e.name
    w.parameter(name)
    w.outputs[name] = places
    w.line(f"tl.atomic_{kind}({name} + {linear(v.shape)}, {v.name}{w.choice(('', ', sem=' + repr('relaxed')))})")
    w.used[v.name] += 1


@feature("memory", 0.5)
def atomic_words(w: Writer) -> None:
    """Loads and stores that are atomic."""
    if w.depth:
        raise Refused
    v = w.pick(lambda v: v.element.name in ("i32", "i64", "u32", "i16") and prod(v.shape) <= 256)
    count = prod(v.shape)
    if w.chance(0.5):
        w.add(
            f"tl.atomic_load({w.parameter(f'x_{v.element.name}')}{' + ' + linear(v.shape) if v.shape else ''})",
            Value("", v.element, v.shape),
        )
        return
    name = output(w, v, count)
    at = f"{name} + pid * {count}" + (f" + {linear(v.shape)}" if v.shape else "")
    w.line(f"tl.atomic_store({at}, {v.name})")
    w.used[v.name] += 1

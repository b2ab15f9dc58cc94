"""Steps of random kernels: memory. Every lane that is on lies in the array, and no element is stored twice."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from .elements import FLOATS, INTEGERS, TYPES, Element
from .writer import SIZE, Refused, Value, Writer, feature, names_of

__all__ = ["STORED", "linear", "load_input", "store_value"]

STORED = [
    "i8",
    "i16",
    "i32",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "i1",
    "e5",
    "e4",
    "f16",
    "bf16",
    "f32",
    "f32",
    "f64",
]


def linear(shape: tuple[int, ...], order: tuple[int, ...] | None = None) -> str:
    """The row-major index of each element (or with the dimensions in another order, the slowest first)."""
    order = order or tuple(range(len(shape)))
    terms, stride = [], 1
    for axis in reversed(order):
        index = ", ".join(":" if a == axis else "None" for a in range(len(shape)))
        term = f"tl.arange(0, {shape[axis]})" + (f"[{index}]" if len(shape) > 1 else "")
        terms.append(term if stride == 1 else f"{term} * {stride}")
        stride *= shape[axis]
    return " + ".join(reversed(terms)) if terms else "0"


def facts_of(kind: str, e: Element) -> dict:
    """What is known of an input's elements: x multiples of a quarter up to 4, r anything up to 8, s NaN and infinity, too."""
    if e.kind != "f":
        return {}
    if kind == "s":
        return {"special": True}
    return {"most": 4.0, "grid": 2} if kind == "x" else {"most": 8.0, "grid": None}


def source(w: Writer, e: Element) -> tuple[str, str]:
    """An input of a type, and its kind."""
    kind = "x"
    if e.kind == "f" and e.bits > 8:
        kind = w.random.choices("xrs", (6, 2, 2 if w.specials else 0))[0]
    return w.parameter(f"{kind}_{e.name}"), kind


def shape_of(w: Writer) -> tuple[int, ...]:
    """One of the kernel's favourite shapes."""
    return w.choice(w.shapes)


def offsets(w: Writer, shape: tuple[int, ...]) -> str:
    """Indices within an input of SIZE elements, for each program."""
    count = prod(shape)
    order = list(range(len(shape)))
    if w.chance(0.3):
        w.random.shuffle(order)
    index = linear(shape, tuple(order))
    room = SIZE - 64 * w.programs - count
    form = w.choice(("{i}", "{i}", "{s} + {i}", "{i} + pid * {k}", "({i}) * 2", "({i}) * 3 + 1", "{last} - ({i})",
                     "({i}) % {m}", "({i}) // {q}", "({i}) ^ 5", "({i}) * 0 + {s}", "({i}) & {k}"))  # fmt: skip
    if ("* 2" in form and 2 * count > SIZE) or ("* 3" in form and 3 * count + 1 > SIZE):
        raise Refused
    return form.format(
        i=index, s=w.random.randrange(max(room, 1)), k=w.choice((1, 7, 16, 33)), last=count - 1 + w.choice((0, 5, 16)),
        m=w.choice((3, 16, 37)), q=w.choice((2, 3, 8)),
    )  # fmt: skip


def mask_of(w: Writer, shape: tuple[int, ...], index: str) -> str:
    """A mask of a tile."""
    found = [v for v in w.values if v.element.kind == "b" and v.shape == shape]
    if found and w.chance(0.3):
        return w.random.choice(found).name
    n = w.scalar_parameter().name
    if len(shape) == 2 and w.chance(0.5):
        rows, columns = f"tl.arange(0, {shape[0]})[:, None]", f"tl.arange(0, {shape[1]})[None, :]"
        return f"({rows} < {w.choice((1, shape[0], max(shape[0] - 3, 1)))}) & ({columns} < {n})"
    return w.choice(("{} < {}", "{} >= {}", "({} % 3 != 1) & ({} > 2)")).format(index, n)


def load_input(w: Writer, e: Element, shape: tuple[int, ...]) -> Value:
    """A load, by pointers."""
    name, kind = source(w, e)
    facts = facts_of(kind, e)
    index = w.fresh("at")
    w.line(f"{index} = {offsets(w, shape)}")
    extra = w.choice(("", "", "", ', cache_modifier=".cg"', ', eviction_policy="evict_last"', ", volatile=True"))
    v = Value("", e, shape, **facts)
    if not w.chance(0.5) or not shape:
        value = w.add(f"tl.load({name} + {index}{extra})", v)
        w.loaded.add(value.name)
        return value
    mask = w.fresh("mask")
    w.line(f"{mask} = {mask_of(w, shape, index)}")
    if w.chance(0.7):
        other = w.choice(("0", "1", "2")) if e.kind != "b" else w.choice(("0", "1"))
        if e.kind == "f" and w.chance(0.5):
            other += ".0"
        return w.add(f"tl.load({name} + {index}, mask={mask}, other={other}{extra})", v)
    kept = w.fresh()
    w.line(f"{kept} = tl.load({name} + {index}, mask={mask}{extra})")
    return w.add(f"tl.where({mask}, {kept}, {w.zero(e)})", v)


@feature("memory", 5)
def load(w: Writer) -> None:
    load_input(w, TYPES[w.choice(w.stored)], shape_of(w))


@feature("memory", 1)
def load_scalar(w: Writer) -> None:
    e = TYPES[w.choice(w.stored)]
    name, kind = source(w, e)
    v = w.add(f"tl.load({name} + {w.choice(('pid', 'pid * 2 + 1', '5'))})", Value("", e, (), **facts_of(kind, e)))
    w.loaded.add(v.name)


@feature("memory", 1)
def load_by_index(w: Writer) -> None:
    """Addresses that are data."""
    index = w.kind("iu", lambda v: 0 < prod(v.shape) <= 1024)
    e = TYPES[w.choice(w.stored)]
    name, kind = source(w, e)
    form = w.choice((f"({index.name} & 1023)", f"({index.name} & 15) * 3", f"({index.name} & 255).to(tl.int64)"))
    if index.element.bits == 8 and "1023" in form:
        raise Refused  # no number of 8 bits
    if index.element.kind == "u" and index.element.bits == 8 and "255" not in form and "15" not in form:
        raise Refused
    if index.element.bits == 8 and index.element.kind == "i" and "255" in form:
        raise Refused
    w.add(f"tl.load({name} + {form})", Value("", e, index.shape, **facts_of(kind, e)))


@feature("memory", 1)
def load_moving(w: Writer) -> None:
    """A pointer that a loop carries."""
    e = w.choice([e for e in (*INTEGERS, *FLOATS) if e.bits > 8])
    shape = shape_of(w)
    steps, stride = w.choice((1, 2, 3)), w.choice((1, 16, -2, 33))
    if prod(shape) > 2048:
        raise Refused
    name, kind = w.parameter(f"x_{e.name}"), "x"
    pointers, total = w.fresh("p"), w.fresh()
    w.line(f"{pointers} = {name} + {linear(shape)}" + (" + 64" if stride < 0 else ""))
    w.line(f"{total} = tl.zeros({names_of(shape)}, {e.tl})")
    w.line(f"for {w.fresh('k')} in range({steps}):")
    w.line(f"    {total} += tl.load({pointers})")
    w.line(f"    {pointers} += {stride}")
    facts = {"most": 4.0 * steps, "grid": 2} if e.kind == "f" else {}
    w.values.append(Value(total, e, shape, **facts))


@feature("memory", 1.5)
def block_pointer(w: Writer) -> None:
    """A tile of a matrix that may hang over its borders."""
    e = TYPES[w.choice([n for n in w.stored if n != "i1"])]
    shape = w.choice([s for s in w.shapes if len(s) in (1, 2) and min(s) > 1])
    name, kind = source(w, e)
    if kind == "s":
        raise Refused
    sizes = [w.choice((5, 16, 33, 64)) for _ in shape]
    order = tuple(reversed(range(len(shape))))
    strides = [1] if len(shape) == 1 else [sizes[1], 1]
    if len(shape) == 2 and w.chance(0.3):
        strides, order = [1, sizes[0]], (0, 1)
    # offsets that are negative hang over the other side
    starts = [w.choice(("0", "3", "pid * 2", "-2", "8")) for _ in shape]
    pointer = w.fresh("p")
    tile = ", ".join(map(str, sizes)), ", ".join(map(str, strides)), ", ".join(starts)
    ends = "," if len(shape) == 1 else ""
    parts = [f"({t}{ends})" for t in tile]
    w.line(
        f"{pointer} = tl.make_block_ptr({name}, {parts[0]}, {parts[1]}, {parts[2]}, ({', '.join(map(str, shape))}{ends}), {order})"
    )
    if w.chance(0.3):
        w.line(f"{pointer} = tl.advance({pointer}, ({', '.join(str(w.choice((0, 1, 4))) for _ in shape)}{ends}))")
    axes = tuple(range(len(shape)))
    w.add(f'tl.load({pointer}, boundary_check={axes}, padding_option="zero")', Value("", e, shape, **facts_of(kind, e)))


@feature("memory", 1.5)
def descriptor(w: Writer) -> None:
    """A tile by a tensor descriptor: rows of 16 bytes at least, addresses at multiples of 16."""
    e = TYPES[w.choice(("f16", "bf16", "f32", "i32", "i16", "u8", "i8", "e5"))]
    shape = w.choice([s for s in w.shapes if len(s) == 2 and s[-1] * e.bits >= 128 and max(s) <= 256])
    name, kind = w.parameter(f"x_{e.name}"), "x"
    rows, columns = w.choice((5, 16, 33)), w.choice((16, 32, 64))
    wide = columns + w.choice((0, 16, 32))
    d = w.fresh("d")
    w.line(f"{d} = tl.make_tensor_descriptor({name}, [{rows}, {columns}], [{wide}, 1], {names_of(shape)})")
    starts = [w.choice(("0", "3", "pid * 2", "-2")), w.choice(("0", "8", "16", "-8"))]
    w.add(f"{d}.load([{', '.join(starts)}])", Value("", e, shape, **facts_of(kind, e)))


# -- stores ------------------------------------------------------------------------------------------------------------


def output(w: Writer, v: Value, room: int) -> str:
    """A new output, with `room` elements for each program."""
    name = w.fresh("o") + "_" + v.element.name
    w.parameter(name)
    w.outputs[name] = room * w.programs
    if v.error:
        w.tolerances[name] = v.error
    return name


def store_value(w: Writer, v: Value, plain: bool = False) -> None:
    """A store of all elements, or of those of a mask, each to a place of its own."""
    count = max(prod(v.shape), 1)
    order = list(range(len(v.shape)))
    if w.chance(0.3):
        w.random.shuffle(order)
    index = linear(v.shape, tuple(order)) if v.shape else "0"
    form = "{i}" if plain else w.choice(("{i}", "{i}", "({i}) * 2", "{last} - ({i})", "({i}) ^ {x}"))
    place = form.format(i=index, last=count - 1, x=count - 1 if count & (count - 1) == 0 else 0)
    room = 2 * count
    name = output(w, v, room)
    at = w.fresh("at")
    w.line(f"{at} = {place}")
    mask = f", mask={mask_of(w, v.shape, at)}" if v.shape and not plain and w.chance(0.3) else ""
    base = w.choice((f"{name} + pid * {room} + {at}", f"{name} + ({at} + pid * {room})"))
    w.line(f"tl.store({base}, {v.name}{mask})")
    w.used[v.name] += 1


@feature("memory", 1)
def store(w: Writer) -> None:
    if w.depth:
        raise Refused  # in a loop it would be stored several times, in a branch maybe not
    store_value(w, w.pick())


@feature("memory", 0.5)
def store_block(w: Writer) -> None:
    """By a block pointer or a descriptor, over the borders."""
    v = w.pick(lambda v: len(v.shape) == 2 and min(v.shape) > 1 and v.element.kind != "b" and max(v.shape) <= 256)
    if w.depth:
        raise Refused
    rows, columns = v.shape[0] - w.choice((0, 1)), v.shape[1]
    if (
        v.shape[1] * v.element.bits >= 128
        and v.element.kind == "f"
        and v.element.name in ("f16", "f32")
        and w.chance(0.5)
    ):
        name, d = output(w, v, prod(v.shape)), w.fresh("d")
        w.line(
            f"{d} = tl.make_tensor_descriptor({name} + pid * {prod(v.shape)}, [{rows}, {columns}], [{columns}, 1], {names_of(v.shape)})"
        )
        w.line(f"{d}.store([0, 0], {v.name})")
        return
    name, p = output(w, v, prod(v.shape)), w.fresh("p")
    w.line(
        f"{p} = tl.make_block_ptr({name} + pid * {prod(v.shape)}, ({rows}, {columns}), ({columns}, 1), (0, 0), {v.shape}, (1, 0))"
    )
    w.line(f"tl.store({p}, {v.name}, boundary_check=(0, 1))")


# -- atomics -----------------------------------------------------------------------------------------------------------


@feature("memory", 1)
def atomic(w: Writer) -> None:
    """Operations that commute, on places that lanes and programs share; few, as the interpreter takes them one by one."""
    if w.depth:
        raise Refused
    names = ("i32", "i64", "u32", "u64", "f32", "f64")
    v = w.pick(
        lambda v: (
            v.element.name in names and (v.element.kind != "f" or v.lattice) and 0 < prod(v.shape) <= 256 and v.shape
        )
    )
    e = v.element
    kinds = ["add", "max", "min"] if e.kind != "f" else ["add"] if v.most * 2.0**v.grid < 2**10 else []
    kinds += ["and", "or", "xor"] if e.kind != "f" else []
    kind = w.choice(kinds)
    name = w.fresh("a") + "_" + e.name
    w.parameter(name)
    w.outputs[name] = 64
    at = w.fresh("at")
    w.line(f"{at} = ({linear(v.shape)}) % {w.choice((1, 3, 16, 64))}")
    mask = f", mask={mask_of(w, v.shape, at)}" if w.chance(0.3) else ""
    sem = w.choice(("", "", ', sem="relaxed"', ', sem="release"', ', scope="sys"'))
    w.line(f"tl.atomic_{kind}({name} + {at}, {v.name}{mask}{sem})")


@feature("memory", 0.7)
def atomic_old(w: Writer) -> None:
    """What an atomic operation finds, at places of the program's own."""
    if w.depth:
        raise Refused
    v = w.pick(lambda v: v.element.name in ("i32", "i64", "u32", "u64") and v.shape and prod(v.shape) <= 256)
    e, count = v.element, prod(v.shape)
    name = w.fresh("a") + "_" + e.name
    w.parameter(name)
    w.outputs[name] = count * w.programs
    pointer = f"{name} + pid * {count} + {linear(v.shape)}"
    form = w.choice(
        ("tl.atomic_add({}, {})", "tl.atomic_xchg({}, {})", "tl.atomic_max({}, {})", "tl.atomic_cas({}, {c}, {})")
    )
    w.add(form.format(pointer, v.name, c=f"{v.name} & 1"), replace(Value("", e, v.shape)))

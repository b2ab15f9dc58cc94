"""Linear layouts: linear maps over GF(2) between named bits.

A layout maps locations to elements: register r of lane l of warp w, or an offset in shared memory, to the element of a
tensor it holds. The size of each input and output dimension is a power of two, so that its index is a vector of bits,
and the layouts of the hardware are linear: they map the exclusive or of two inputs to that of their outputs. Such a map
is determined by the images of the powers of two of each input dimension, its bases:

>>> tile = LinearLayout({"register": [(0, 1)], "lane": [(0, 2), (1, 0), (2, 0)]}, {"dim0": 4, "dim1": 4})
>>> tile.apply(register=1, lane=0b101)
{'dim0': 2, 'dim1': 3}

register 1 is element (0, 1), lane 1 is (0, 2), lane 4 is (2, 0), and together (2, 3).

Layouts have products (side by side), compositions and inverses; the queries of a lowering (contiguous elements, copies,
data exchanged between lanes) are linear algebra, independent of the name of a layout. Source: Zhou et al., "Linear
Layouts", arXiv 2505.23819 (2025).

Dimensions are ordered: where several are packed into one index (`flatten`, `reshape`), the first is the least
significant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..support.lazy import LazyMethod
from . import gf2

__all__ = ["Bases", "LinearLayout"]

Bases = Mapping[str, Sequence[Sequence[int]]]


def _bits(size: int, what: str) -> int:
    if size < 1 or size & (size - 1):
        raise ValueError(f"the size of {what} is {size}, which is not a power of two")
    return size.bit_length() - 1


class _Space:
    """Named dimensions packed into one integer: `shifts` and `masks` locate each; `width` in bits."""

    __slots__ = ("masks", "shifts", "sizes", "width")

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes = dict(sizes)
        self.shifts: dict[str, int] = {}
        at = 0
        for name, size in self.sizes.items():
            self.shifts[name] = at
            at += _bits(size, name)
        self.width = at
        self.masks = {name: size - 1 for name, size in self.sizes.items()}

    def bits(self, name: str) -> int:
        """The number of bits of a dimension."""
        return self.masks[name].bit_length()

    def pack(self, values: Mapping[str, int]) -> int:
        """Pack coordinates into an integer."""
        out = 0
        for name, value in values.items():
            if not 0 <= value <= self.masks[name]:
                raise ValueError(f"{name} = {value} is out of range: its size is {self.sizes[name]}")
            out |= value << self.shifts[name]
        return out

    def unpack(self, number: int) -> dict[str, int]:
        """Unpack the coordinates of an integer."""
        return {name: number >> shift & self.masks[name] for name, shift in self.shifts.items()}

    def moved_to(self, other: _Space) -> Callable[[int], int]:
        """Map packed coordinates of this space to those of `other`, which may order its dimensions differently.

        Dimensions that `other` lacks are dropped.
        """
        steps = [(self.shifts[n], self.masks[n], other.shifts[n]) for n in self.sizes if n in other.sizes]

        def move(number: int) -> int:
            return sum((number >> shift & mask) << to for shift, mask, to in steps)

        return move


class LinearLayout:
    """A linear map over GF(2) from named input dimensions to named output dimensions.

    `bases` gives for each input dimension where its powers of two go: coordinates in the order of `outs`. `outs` gives
    the sizes of the output dimensions. Values are interned: equal layouts are the same object. Sizes are powers of
    two; every coordinate of a basis lies within its output dimension. The order of dimensions counts; `reordered`
    changes it.
    """

    __slots__ = ("_elimination", "_in", "_out", "columns")
    _repr_mimebundle_ = LazyMethod("..support.display", __package__)  # what notebooks show
    columns: tuple[int, ...]  # of the matrix, packed: column j is where bit j of all inputs goes
    _in: _Space
    _out: _Space
    _elimination: gf2.Elimination | None
    _table: dict[Any, LinearLayout] = {}

    def __new__(cls, bases: Bases, outs: Mapping[str, int]) -> LinearLayout:
        out = _Space(outs)
        columns = []
        for name, vectors in bases.items():
            for vector in vectors:
                if len(vector) != len(out.sizes):
                    raise ValueError(f"a basis of {name} has {len(vector)} coordinates, there are {len(out.sizes)}")
                columns.append(out.pack(dict(zip(out.sizes, vector))))
        return cls._of(columns, _Space({name: 1 << len(vectors) for name, vectors in bases.items()}), out)

    @classmethod
    def _of(cls, columns: Iterable[int], ins: _Space, outs: _Space) -> LinearLayout:
        columns = tuple(columns)
        key = columns, tuple(ins.sizes.items()), tuple(outs.sizes.items())
        found = cls._table.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.columns, self._in, self._out, self._elimination = columns, ins, outs, None
        return cls._table.setdefault(key, self)

    def __reduce__(self) -> Any:
        return LinearLayout, (self.bases, self.outs)

    # -- constructors ---------------------------------------------------------------------------------------------

    @classmethod
    def empty(cls) -> LinearLayout:
        """The layout of one element without any dimension: the unit of products."""
        return cls({}, {})

    @classmethod
    def identity_1d(cls, size: int, source: str, target: str) -> LinearLayout:
        """target = source, for a dimension of `size`.

        >>> print(LinearLayout.identity_1d(4, "lane", "dim0"))
        lane: 1 -> (1), 2 -> (2) in (dim0: 4)
        """
        return cls.strided_1d(size, 1, source, target)

    @classmethod
    def strided_1d(cls, size: int, stride: int, source: str, target: str) -> LinearLayout:
        """target = source * stride; the target has `size * stride` elements. `stride` is a power of two."""
        _bits(stride, "the stride")
        return cls({source: [(stride << i,) for i in range(_bits(size, source))]}, {target: size * stride})

    @classmethod
    def zeros_1d(cls, size: int, source: str, target: str, target_size: int = 1) -> LinearLayout:
        """target = 0 for every source index: all of its `size` indices hold the same element."""
        return cls({source: [(0,)] * _bits(size, source)}, {target: target_size})

    @classmethod
    def of_function(
        cls, ins: Mapping[str, int], outs: Mapping[str, int], at: Callable[..., Sequence[int]]
    ) -> LinearLayout:
        """The layout that agrees with `at(**indices) -> coordinates` on the powers of two of each dimension.

        The function is not evaluated elsewhere: the caller claims that it is linear.
        """
        zero = dict.fromkeys(ins, 0)
        bases = {
            name: [tuple(at(**{**zero, name: 1 << i})) for i in range(_bits(size, name))] for name, size in ins.items()
        }
        return cls(bases, outs)

    # -- accessors ------------------------------------------------------------------------------------------------

    @property
    def ins(self) -> dict[str, int]:
        """The input dimensions and their sizes."""
        return dict(self._in.sizes)

    @property
    def outs(self) -> dict[str, int]:
        """The output dimensions and their sizes."""
        return dict(self._out.sizes)

    @property
    def bases(self) -> dict[str, list[tuple[int, ...]]]:
        """For each input dimension, the images of its powers of two."""
        return {name: [tuple(self._out.unpack(c).values()) for c in self.columns_of(name)] for name in self._in.sizes}

    def columns_of(self, name: str) -> tuple[int, ...]:
        """The packed columns of one input dimension."""
        shift = self._in.shifts[name]
        return self.columns[shift : shift + self._in.bits(name)]

    def basis(self, name: str, bit: int) -> dict[str, int]:
        """The image of `1 << bit` of the input dimension `name`."""
        return self._out.unpack(self.columns_of(name)[bit])

    def size(self) -> int:
        """The number of inputs, over all dimensions."""
        return 1 << self._in.width

    def out_size(self) -> int:
        """The number of outputs, over all dimensions."""
        return 1 << self._out.width

    def __str__(self) -> str:
        parts = []
        for name in self._in.sizes:
            vectors = (tuple(self._out.unpack(c).values()) for c in self.columns_of(name))
            rows = [f"{1 << i} -> ({', '.join(map(str, v))})" for i, v in enumerate(vectors)]
            parts.append(f"{name}: {', '.join(rows) or 'none'}")
        return "; ".join(parts) + f" in ({', '.join(f'{n}: {s}' for n, s in self._out.sizes.items())})"

    def __repr__(self) -> str:
        return f"LinearLayout({self.bases}, {self.outs})"

    def apply(self, **indices: int) -> dict[str, int]:
        """The image of an input; dimensions not given are 0."""
        return self._out.unpack(gf2.times(self.columns, self._in.pack(indices)))

    # -- properties -----------------------------------------------------------------------------------------------

    def _eliminated(self) -> gf2.Elimination:
        if self._elimination is None:
            self._elimination = gf2.Elimination(self.columns)
        return self._elimination

    def is_surjective(self) -> bool:
        """Whether every output is reached."""
        return self._eliminated().rank == self._out.width

    def is_injective(self) -> bool:
        """Whether no two inputs have the same output."""
        return not self._eliminated().kernel

    def is_invertible(self) -> bool:
        """Whether every output has exactly one input."""
        return self.is_surjective() and self.is_injective()

    def redundant(self) -> dict[str, int]:
        """For each input dimension a mask of the bits that do not affect the image.

        Setting one of them selects a copy: the output is also that of an input without it. The inputs with all of them
        zero reach every image once.

        >>> (LinearLayout.identity_1d(4, "lane", "dim0") * LinearLayout.zeros_1d(2, "warp", "dim0")).redundant()
        {'lane': 0, 'warp': 1}
        """
        elimination = gf2.Elimination()
        mask = sum((not elimination.add(c)) << i for i, c in enumerate(self.columns))
        return self._in.unpack(mask)

    def contiguous(self, source: str, target: str | None = None) -> int:
        """The number of consecutive indices of `source` that are consecutive outputs, from any aligned start.

        Outputs are counted in `target` alone, with the other dimensions constant, or over all flattened outputs.
        """
        shift, most = (0, self._out.width) if target is None else (self._out.shifts[target], self._out.bits(target))
        n = 0
        for column in self.columns_of(source):
            if n == most or column != 1 << (shift + n):
                break
            n += 1
        mask = ((1 << n) - 1) << shift
        others = (c for name in self._in.sizes for c in self.columns_of(name)[n if name == source else 0 :])
        for column in others:  # an input that moves the low bits would interrupt the row
            while column & mask:
                n -= 1
                mask = ((1 << n) - 1) << shift
        return 1 << n

    def is_constant_over(self, names: Iterable[str], targets: Iterable[str]) -> bool:
        """Whether the input dimensions `names` do not affect the output dimensions `targets`."""
        mask = sum(self._out.masks[t] << self._out.shifts[t] for t in targets)
        return not any(c & mask for name in names for c in self.columns_of(name))

    # -- other forms of the same map -----------------------------------------------------------------------------

    def reordered(self, ins: Sequence[str] | None = None, outs: Sequence[str] | None = None) -> LinearLayout:
        """The same map with its dimensions in another order."""
        new_in = self._ordered(self._in, ins)
        new_out = self._ordered(self._out, outs)
        move = self._out.moved_to(new_out)
        columns = [move(c) for name in new_in.sizes for c in self.columns_of(name)]
        return self._of(columns, new_in, new_out)

    @staticmethod
    def _ordered(space: _Space, names: Sequence[str] | None) -> _Space:
        if names is None:
            return space
        if sorted(names) != sorted(space.sizes):
            raise ValueError(f"{list(names)} is no order of {list(space.sizes)}")
        return _Space({name: space.sizes[name] for name in names})

    def renamed(self, names: Mapping[str, str]) -> LinearLayout:
        """The same map with other names for dimensions, of inputs and outputs alike."""
        ins, outs = ({names.get(n, n): s for n, s in space.sizes.items()} for space in (self._in, self._out))
        if len(ins) < len(self._in.sizes) or len(outs) < len(self._out.sizes):
            raise ValueError("two dimensions would have the same name")
        return self._of(self.columns, _Space(ins), _Space(outs))

    def reshaped(self, ins: Mapping[str, int] | None = None, outs: Mapping[str, int] | None = None) -> LinearLayout:
        """The same map of flattened inputs and outputs, split into other dimensions (the first least significant)."""
        new_in = self._in if ins is None else _Space(ins)
        new_out = self._out if outs is None else _Space(outs)
        if (new_in.width, new_out.width) != (self._in.width, self._out.width):
            raise ValueError("reshaping keeps the number of inputs and outputs")
        return self._of(self.columns, new_in, new_out)

    def sublayout(self, ins: Iterable[str], outs: Iterable[str] | None = None) -> LinearLayout:
        """The map of the input dimensions `ins` alone (the others are 0), and of its outputs those of `outs`."""
        wanted = set(ins)
        new_in = _Space({n: s for n, s in self._in.sizes.items() if n in wanted})
        kept = set(self._out.sizes if outs is None else outs)
        new_out = _Space({n: s for n, s in self._out.sizes.items() if n in kept})
        move = self._out.moved_to(new_out)
        return self._of([move(c) for name in new_in.sizes for c in self.columns_of(name)], new_in, new_out)

    def resized(self, name: str, size: int) -> LinearLayout:
        """Output dimension `name` with another size, at least that of the image."""
        new_out = _Space({n: size if n == name else s for n, s in self._out.sizes.items()})
        reached = 0
        for column in self.columns:
            reached |= column >> self._out.shifts[name] & self._out.masks[name]
        if reached.bit_length() > _bits(size, name):
            raise ValueError(f"{name} cannot have the size {size}: its index {reached} is in use")
        move = self._out.moved_to(new_out)
        return self._of([move(c) for c in self.columns], self._in, new_out)

    def without_zeros(self, name: str) -> LinearLayout:
        """Input dimension `name` without the bits that map to zero: copies are dropped, its size shrinks."""
        kept = [c for c in self.columns_of(name) if c]
        return self._replace(name, kept)

    def _replace(self, name: str, columns: Sequence[int]) -> LinearLayout:
        ins = {n: 1 << len(columns) if n == name else s for n, s in self._in.sizes.items()}
        parts = [c for n in ins for c in (columns if n == name else self.columns_of(n))]
        return self._of(parts, _Space(ins), self._out)

    # -- algebra --------------------------------------------------------------------------------------------------

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        """The product: in dimensions that both have, the bits of this one are the lower ones.

        The size of a common output dimension is the product of both: the other's coordinates are multiples of this
        one's size.

        >>> print(LinearLayout.identity_1d(2, "register", "dim0") * LinearLayout.identity_1d(4, "lane", "dim0"))
        register: 1 -> (1); lane: 1 -> (2), 2 -> (4) in (dim0: 8)
        """
        ins = {n: self._in.sizes.get(n, 1) * other._in.sizes.get(n, 1) for n in {**self._in.sizes, **other._in.sizes}}
        outs = {
            n: self._out.sizes.get(n, 1) * other._out.sizes.get(n, 1) for n in {**self._out.sizes, **other._out.sizes}
        }
        new_out = _Space(outs)
        low = self._out.moved_to(new_out)
        steps = [
            (other._out.shifts[n], other._out.masks[n], new_out.shifts[n] + _bits(self._out.sizes.get(n, 1), n))
            for n in other._out.sizes
        ]

        def high(column: int) -> int:
            return sum((column >> shift & mask) << to for shift, mask, to in steps)

        columns: list[int] = []
        for name in ins:
            if name in self._in.sizes:
                columns += map(low, self.columns_of(name))
            if name in other._in.sizes:
                columns += map(high, other.columns_of(name))
        return self._of(columns, _Space(ins), new_out)

    def compose(self, outer: LinearLayout) -> LinearLayout:
        """outer(self(x)): first this layout, then `outer`, whose inputs are the outputs of this one.

        The dimensions in between are the same by name; `outer` may have larger ones.
        """
        if set(self._out.sizes) != set(outer._in.sizes):
            raise ValueError(f"the outputs {list(self._out.sizes)} are not the inputs {list(outer._in.sizes)}")
        for name, size in self._out.sizes.items():
            if size > outer._in.sizes[name]:
                raise ValueError(f"{name} has {size} outputs here and {outer._in.sizes[name]} inputs there")
        move = self._out.moved_to(outer._in)
        return self._of([gf2.times(outer.columns, move(c)) for c in self.columns], self._in, outer._out)

    def invert(self) -> LinearLayout:
        """The inverse of this layout, which must be invertible."""
        if not self.is_invertible():
            raise ValueError(f"not invertible: {self}")
        return self.pseudoinvert()

    def pseudoinvert(self) -> LinearLayout:
        """A right inverse: a layout from outputs to the inputs that reach them without redundant bits.

        `self.pseudoinvert().compose(self)` is the identity. The layout must be surjective.
        """
        elimination = self._eliminated()
        columns = [elimination.solve(1 << i) for i in range(self._out.width)]
        if any(c is None for c in columns):
            raise ValueError(f"not surjective: {self}")
        return self._of([c for c in columns if c is not None], self._out, self._in)

    def invert_and_compose(self, other: LinearLayout) -> LinearLayout:
        """From inputs of this layout to inputs of `other` with the same output: the x with x.compose(other) is self.

        This is the map of a layout conversion: the location in `other` of the element at a location here. The image of
        this layout must be contained in the other's. Redundant bits there are 0, and an input dimension that both
        layouts map alike is kept, so that no element moves unnecessarily.
        """
        if set(self._out.sizes) != set(other._out.sizes):
            raise ValueError(f"the outputs {list(self._out.sizes)} are not the outputs {list(other._out.sizes)}")
        move = self._out.moved_to(other._out)
        targets = [move(c) for c in self.columns]
        elimination = other._eliminated()
        columns = [elimination.solve(t) for t in targets]
        if any(c is None for c in columns):
            raise ValueError(f"the image of {self} is not contained in that of {other}")
        kept = self._kept(other, targets)
        return self._of([kept.get(i, c) for i, c in enumerate(columns) if c is not None], self._in, other._in)

    def _kept(self, other: LinearLayout, targets: Sequence[int]) -> dict[int, int]:
        """Input bits with the same place and the same output in both layouts."""
        out = {}
        for name, shift in self._in.shifts.items():
            theirs = other._in.shifts.get(name)
            if theirs is None:
                continue
            for i in range(min(self._in.bits(name), other._in.bits(name))):
                if targets[shift + i] == other.columns[theirs + i]:
                    out[shift + i] = 1 << (theirs + i)
        return out

    def divide_left(self, left: LinearLayout) -> LinearLayout | None:
        """The layout `rest` with `left * rest is self`, or None: whether this layout consists of tiles `left`.

        >>> tile = LinearLayout.identity_1d(4, "register", "dim0")
        >>> print((tile * LinearLayout.identity_1d(8, "lane", "dim0")).divide_left(tile))
        register: none; lane: 1 -> (1), 2 -> (2), 4 -> (4) in (dim0: 8)
        """
        if not (set(left._in.sizes) <= set(self._in.sizes) and set(left._out.sizes) <= set(self._out.sizes)):
            return None
        ins = {n: s // left._in.sizes.get(n, 1) for n, s in self._in.sizes.items()}
        outs = {n: s // left._out.sizes.get(n, 1) for n, s in self._out.sizes.items()}
        if not all((*ins.values(), *outs.values())):
            return None
        new_out = _Space(outs)
        steps = [
            (self._out.shifts[n] + _bits(left._out.sizes.get(n, 1), n), new_out.masks[n], new_out.shifts[n])
            for n in outs
        ]
        columns = []
        for name in ins:
            skip = _bits(left._in.sizes.get(name, 1), name)
            columns += [
                sum((c >> shift & mask) << to for shift, mask, to in steps) for c in self.columns_of(name)[skip:]
            ]
        rest = self._of(columns, _Space(ins), new_out)
        whole = left * rest
        same = set(whole._in.sizes) == set(self._in.sizes) and set(whole._out.sizes) == set(self._out.sizes)
        return rest if same and whole.reordered(list(self._in.sizes), list(self._out.sizes)) is self else None

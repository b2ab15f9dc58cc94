"""Random texts of the ttg dialect's attributes and buffers, most of them sound."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

__all__ = ["random_text"]


class _Random:
    """One kind of layout a method; `bad` is how often a part is made that does not fit."""

    def __init__(self, rng: random.Random, bad: float = 0.05) -> None:
        self.rng, self.bad = rng, bad

    def power(self, low: int, high: int) -> int:
        return 1 << self.rng.randint(low, high)

    def one(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def spoil(self, value: object, other: object) -> object:
        return other if self.rng.random() < self.bad else value

    def sizes(self, rank: int, high: int = 3) -> list[object]:
        return [
            self.spoil(self.power(0, high), self.rng.choice([3, 6])) for _ in range(int(self.spoil(rank, rank + 1)))
        ]

    def order(self, rank: int) -> list[int]:
        return self.spoil(self.rng.sample(range(rank), rank), [0] * rank)

    def blocks(self, rank: int) -> str:
        """The entry CGALayout, or nothing."""
        if self.rng.random() < 0.6:
            return ""
        bases = self.bases(rank, ("block",), 0.25)["block"]
        return f", CGALayout = {bases}"

    def bases(self, rank: int, names: Sequence[str], zeros: float = 0.15) -> dict[str, list[list[int]]]:
        """Lists of bases that make a permutation."""
        reached, out = [0] * rank, {}
        for name in names:
            out[name] = []
            for _ in range(self.rng.randint(0, 4)):
                vector, d = [0] * rank, self.rng.randrange(rank)
                if self.rng.random() >= zeros:
                    vector[d], reached[d] = 1 << reached[d], reached[d] + 1
                out[name].append(self.spoil(vector, [self.rng.randint(0, 5) for _ in range(rank)]))
        return out

    # -- registers ----------------------------------------------------------------------------------------------------

    def blocked(self) -> str:
        r = self.rng.randint(1, 3)
        sizes = f"sizePerThread = {self.sizes(r)}, threadsPerWarp = {self.sizes(r)}, warpsPerCTA = {self.sizes(r, 2)}"
        return f"#ttg.blocked<{{{sizes}, order = {self.order(r)}{self.blocks(r)}}}>"

    def nvidia_mma(self) -> str:
        version, shape = self.spoil(self.rng.choice([2, 3]), 1), self.one("[16, 8]", "[16, 64, 16]", "[1, 16, 8]")
        warps = [self.power(0, 2), self.power(0, 2)]
        return (
            f"#ttg.nvidia_mma<{{versionMajor = {version}, versionMinor = 0, warpsPerCTA = {warps}{self.blocks(2)},"
            f" instrShape = {shape}}}>"
        )

    def amd_mfma(self) -> str:
        shape = self.spoil(self.one("[32, 32, 8]", "[16, 16, 16]", "[64, 4, 4]", "[4, 64, 4]"), "[32, 16, 8]")
        rest = self.one("", ", tilesPerWarp = [2, 1]") + self.one("", ", elementBitWidth = 64")
        return (
            f"#ttg.amd_mfma<{{version = {self.spoil(3, 5)}, warpsPerCTA = {self.sizes(2, 2)}, instrShape = {shape},"
            f" isTransposed = {self.one('true', 'false')}{self.blocks(2)}{rest}}}>"
        )

    def amd_wmma(self) -> str:
        # Triton stops at bases that miss a tile.
        bases = _Random(self.rng, 0.0).bases(2, self.rng.choice([("register", "warp"), ("warp",)]), 0.05)
        bases["warp"] = bases["warp"] or [[1, 0]]  # Triton does not read what it prints for one warp
        shape = self.one("", ", instrShape = [16, 16, 32]", ", instrShape = [16, 16, 128]")
        inner = ", ".join(f"{k} = {v}" for k, v in bases.items())
        return (
            f"#ttg.amd_wmma<{{version = {self.rng.randint(1, 3)}, isTranspose = {self.one('true', 'false')},"
            f" ctaLayout = {{{inner}}}{self.blocks(2)}{shape}}}>"
        )

    def linear(self) -> str:
        bases = self.bases(self.rng.randint(1, 3), ("register", "lane", "warp", "block"))
        return f"#ttg.{self.one('linear', 'generic_linear')}<{{{', '.join(f'{k} = {v}' for k, v in bases.items())}}}>"

    def distributed(self) -> str:
        return self.rng.choice([self.blocked, self.nvidia_mma, self.amd_mfma, self.linear])()

    def slice(self) -> str:
        return f"#ttg.slice<{{dim = {self.rng.randint(0, 2)}, parent = {self.distributed()}}}>"

    def dot_op(self) -> str:
        width = self.one("", f", kWidth = {self.power(0, 4)}")
        return f"#ttg.dot_op<{{opIdx = {self.spoil(self.rng.randint(0, 1), 2)}, parent = {self.distributed()}{width}}}>"

    # -- memory -------------------------------------------------------------------------------------------------------

    def swizzled(self, rank: int = 0) -> str:
        r = rank or self.rng.randint(1, 3)
        sizes = f"vec = {self.power(0, 4)}, perPhase = {self.power(0, 3)}, maxPhase = {self.power(0, 3)}"
        return f"#ttg.swizzled_shared<{{{sizes}, order = {self.order(r)}{self.blocks(r)}}}>"

    def padded(self, shape: Sequence[int] = ()) -> str:
        pairs = ", ".join(
            f"{self.power(1, 7)}:+{self.spoil(self.power(0, 4), 5)}" for _ in range(self.rng.randint(1, 3))
        )
        if shape or self.rng.random() < 0.5:
            shape = list(shape) or [self.power(0, 6) for _ in range(self.rng.randint(1, 3))]
            return f"#ttg.padded_shared<[{pairs}] {{order = {self.order(len(shape))}, shape = {shape}}}>"
        bases = self.bases(self.rng.randint(1, 3), ("offset", "block"), 0.03)
        return f"#ttg.padded_shared<[{pairs}] {{offset = {bases['offset']}, block = {bases['block']}}}>"

    def shared_linear(self) -> str:
        bases = self.bases(self.rng.randint(1, 3), ("offset", "block"))
        inner = ", ".join(f"{k} = {v}" for k, v in bases.items())
        return f"#ttg.shared_linear<{{{inner}}}, alignment = {self.spoil(self.power(0, 10), 12)}>"

    def nvmma(self, rank: int = 0) -> str:
        r = rank or self.rng.randint(1, 4)
        tail = f", rank = {r}" if rank else self.rng.choice(["", f", rank = {r}", self.blocks(r)])
        return (
            f"#ttg.nvmma_shared<{{swizzlingByteWidth = {self.spoil(self.rng.choice([0, 32, 64, 128]), 16)}, transposed ="
            f" {self.one('true', 'false')}, elementBitWidth = 16{self.one('', ', fp4Padded = true')}{tail}}}>"
        )

    def partitioned(self) -> str:
        inner = self.rng.choice([self.swizzled, self.padded, self.nvmma, self.shared_linear])()
        counts = f"numPartitions = {self.spoil(self.power(1, 3), 1)}, numGroups = {self.spoil(self.power(0, 2), 3)}"
        dim = self.rng.randint(0, 1)
        return f"#ttg.partitioned_shared<{{{counts}, partitionDim = {dim}, partitionLayout = {inner}}}>"

    def buffer(self) -> str:
        shape = [self.power(2, 7) for _ in range(self.rng.randint(1, 3))]
        rank = max(len(shape) - self.rng.randint(0, 1), 1)
        layout = self.rng.choice([
            lambda: self.swizzled(rank), lambda: self.padded(shape), lambda: self.nvmma(rank), self.shared_linear,
        ])()  # fmt: skip
        whole = [n * self.rng.choice([1, 1, 2]) for n in shape]
        tail = self.one("", ", mutable") + self.one(
            "", "", f", {'x'.join(map(str, [*[3] * self.rng.randint(0, 1), *whole]))}"
        )
        element = self.one("f16", "f32", "i8", "i1")
        return f"!ttg.memdesc<{'x'.join(map(str, shape))}x{element}, {layout}, #ttg.shared_memory{tail}>"


def random_text(rng: random.Random) -> str:
    """The text of an attribute or buffer type."""
    r = _Random(rng)
    makers: list[Callable[[], str]] = [
        r.blocked, r.nvidia_mma, r.amd_mfma, r.amd_wmma, r.linear, r.slice, r.dot_op, r.swizzled, r.padded, r.nvmma,
        r.shared_linear, r.partitioned, r.buffer, r.buffer,
    ]  # fmt: skip
    return rng.choice(makers)()

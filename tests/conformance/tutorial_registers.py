"""Registers of Triton's tutorial kernels in every configuration that the tutorials give them, beside Triton's.

    python -m tests.conformance.tutorial_registers CHECKOUT [--targets 80,90] [--only NAME] [--all] [--types bf16,fp8e4nv]
                                                   [--json FILE]

CHECKOUT is a folder with Triton's sources. Without `--all` only the configurations that a tutorial itself launches, or
lists first for its autotuner, are compiled; with it all that the autotuner tries. So are the kernels of examples/ with
the options of their tests, and with Triton's own default of 4 warps. A row gives, for us and for Triton
(where `tests/triton_oracle.py` finds it), registers of a thread, bytes of spill stores and loads, bytes of stack and of
shared memory, and whether ptxas serializes WGMMAs. `--types` compiles matmuls of 16-bit floats and fp8 for other element
types, too. Triton's PTX is assembled by the `ptxas` that ours is, so that what differs is the text.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.conformance.tutorials import CASES, Case, source_of
from tests.example_kernels import ExampleKernel, load, triton_text
from tests.example_kernels import cases as example_cases
from tests.triton_oracle import TritonError, TritonOracle, find_interpreter
from tritium.backends.errors import BackendError
from tritium.backends.nvidia.assembler import Assembler, Resources, assembler_options
from tritium.backends.nvidia.codegen import NVPTXTarget
from tritium.backends.nvidia.remarks import explain
from tritium.backends.nvidia.stages import kernel_name
from tritium.compiler import ASTSource, CompiledKernel, GPUTarget, compile
from tritium.support import TritiumError

__all__ = ["Configuration", "configurations", "main"]

_TILE = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K")


@dataclass(frozen=True)
class Configuration:
    """A case with the constants and options of one configuration; the `first` ones are what a tutorial launches."""

    case: Case
    label: str
    first: bool
    least: int = 0
    most: int = 1000

    def fits(self, capability: int) -> bool:
        """Whether the tutorial compiles it for such a chip."""
        return max(self.case.capability, self.least) <= capability <= self.most


def _tiles(rows: list[tuple[tuple[int, ...], int, int]], **more: Any) -> Iterator[tuple[dict[str, int], int, int]]:
    """Constants, warps and stages for rows of a tile, warps and stages."""
    return ((dict(zip(_TILE, tile), **more), warps, stages) for tile, warps, stages in rows)


_HALF = [(128, 256, 64, 8, 3), (64, 256, 32, 4, 4), (128, 128, 32, 4, 4), (128, 64, 32, 4, 4), (64, 128, 32, 4, 4)]
_HALF += [(128, 32, 32, 4, 4), (64, 32, 32, 2, 5), (32, 64, 32, 2, 5)]
_EIGHTH = [(128, 256, 128, 8, 3), (256, 128, 128, 8, 3), (256, 64, 128, 4, 4), (64, 256, 128, 4, 4)]
_EIGHTH += [(128, 128, 128, 4, 4), (128, 64, 64, 4, 4), (64, 128, 64, 4, 4), (128, 32, 64, 4, 4)]
_PRODUCT = [(row[:3], row[3], row[4]) for row in _HALF + _EIGHTH]
_GROUPED = [(tile, 4, 3) for tile in ((128, 128, 32), (64, 64, 32), (128, 128, 64), (64, 128, 64))]
_GRID = [((128, n, k), w, s) for n in (128, 256) for k in (64, 128) for s in (2, 3, 4) for w in (4, 8)]


def _attention() -> Iterator[tuple[dict[str, int], int, int]]:
    yield {"BLOCK_M": 128, "BLOCK_N": 64}, 4, 2
    for m in (64, 128):
        for n in (32, 64, 128):
            for stages in (2, 3, 4):
                for warps in (4, 8):
                    if (m, n, stages, warps) != (128, 64, 2, 4):
                        yield {"BLOCK_M": m, "BLOCK_N": n}, warps, stages


def _norms() -> Iterator[tuple[dict[str, int], int, int]]:
    for block in (1024, 2048, 4096, 8192, 16384):
        name = {"BLOCK_SIZE": block, "BLOCK_SIZE_N": block}
        group = 256 if block <= 1024 else 128 if block <= 4096 else 96 if block <= 8192 else 64
        yield {**name, "GROUP_SIZE_M": group}, min(max(block // 256, 1), 8), 3


def _softmax() -> Iterator[tuple[dict[str, int], int, int]]:
    for block in (1024, 256, 4096, 16384):
        yield {"BLOCK_SIZE": block}, 8, 3


_ROWS: dict[tuple[str, str], Any] = {
    ("02", "softmax_kernel"): _softmax,
    ("03", "matmul_kernel"): lambda: _tiles(_PRODUCT),
    ("05", "_layer_norm_fwd_fused"): _norms,
    ("05", "_layer_norm_bwd_dx_fused"): _norms,
    ("06", "_attn_fwd"): _attention,
    ("08", "grouped_matmul_kernel"): lambda: _tiles(_GROUPED),
    ("08", "grouped_matmul_tma_kernel"): lambda: _tiles([row for row in _GRID if row[2] > 2]),
    ("09", "matmul_kernel"): lambda: _tiles(_GRID),
    ("09", "matmul_kernel_persistent"): lambda: _tiles(_GRID),
    ("09", "matmul_kernel_tma"): lambda: _tiles(_GRID),
    ("09", "matmul_kernel_tma_persistent"): lambda: _tiles(_GRID),
    ("09", "matmul_kernel_descriptor_persistent"): lambda: _tiles(_GRID),
    ("10", "block_scaled_matmul_kernel"): lambda: iter([({"NUM_STAGES": 4}, 4, 3)]),
    ("10", "block_scaled_matmul_kernel_cdna4"): lambda: iter([({}, 8, 2)]),
}
"""Constants, warps and stages of a kernel, what the tutorial launches first."""


def _signature(case: Case, constants: dict[str, Any]) -> dict[str, str]:
    """Parameters' types, with the blocks that descriptors have in a configuration."""
    full = {**case.constants, **constants}
    out = dict(case.signature)
    if case.kernel.startswith("matmul_kernel_tma"):
        ty = out["a_desc"].partition("<")[2].partition("[")[0]
        m, n, k = (full[name] for name in _TILE)
        columns = n // 2 if full.get("EPILOGUE_SUBTILE") else n
        for name, block in (("a_desc", (m, k)), ("b_desc", (n, k)), ("c_desc", (m, columns))):
            out[name] = f"tensordesc<{ty}[{block[0]},{block[1]}]>"
    elif case.kernel == "_attn_fwd" and out["desc_q"].startswith("tensordesc"):
        for name in ("desc_q", "desc_k", "desc_v", "desc_o"):
            rows = full["BLOCK_M"] if name in ("desc_q", "desc_o") else full["BLOCK_N"]
            out[name] = f"tensordesc<fp16[{rows},{full['HEAD_DIM']}]>"
    return out


def _label(constants: dict[str, Any], warps: int, stages: int) -> str:
    sizes = "x".join(str(v) for k, v in constants.items() if k.startswith("BLOCK"))
    return " ".join(filter(None, (sizes, f"{warps} warps, {stages} stages")))


def configurations() -> list[Configuration]:
    """All of them, kernel by kernel; examples/ with the options of their tests."""
    out = []
    for case in CASES:
        rows = _ROWS.get((case.tutorial, case.kernel))
        if rows is None:
            label = _label({}, case.options.get("num_warps", 4), case.options.get("num_stages", 3))
            out.append(Configuration(case, label, True))
            continue
        for i, (constants, warps, stages) in enumerate(rows()):
            options = {"num_warps": warps, "num_stages": stages}
            one = replace(
                case,
                constants={**case.constants, **constants},
                options=options,
                signature=_signature(case, constants),
                capability=80 if case.tutorial == "10" else case.capability,
            )
            small = case.kernel == "_attn_fwd" and warps == 8 and constants["BLOCK_M"] * constants["BLOCK_N"] < 1 << 14
            out.append(Configuration(one, _label(constants, warps, stages), i == 0, most=89 if small else 1000))
    return out


_ELEMENT = re.compile(r"\b(fp16|bf16|fp8e4nv|fp8e5)\b")


def _of_types(one: Configuration, types: str) -> Iterator[Configuration]:
    """The same configuration of a matmul for other element types."""
    if one.case.tutorial not in ("03", "08", "09"):
        return
    for ty in filter(None, types.split(",")):
        signature = {name: _ELEMENT.sub(ty, text) for name, text in one.case.signature.items()}
        if signature == one.case.signature and one.case.tutorial != "08":
            continue
        wide = ty.startswith("fp8")
        constants = {name: wide if name.startswith("FP8") else v for name, v in one.case.constants.items()}
        case = replace(one.case, signature=signature, constants=constants, note=f"{one.case.note} as {ty}".strip())
        yield replace(one, case=case)


def examples() -> list[ExampleKernel]:
    """Cases of examples/ with their options; products that are tested with 8 warps with Triton's default of 4, too."""
    out = []
    for case in example_cases():
        out.append(case)
        if case.options.get("num_warps") == 8 and "matmul" in case.name:
            out.append(replace(case, options={**case.options, "num_warps": 4}))
    return out


@dataclass
class Usage:
    """What a compile gave: registers, bytes of spill stores and loads, of stack, of shared memory; the warps it is for."""

    registers: int = 0
    stores: int = 0
    loads: int = 0
    stack: int = 0
    shared: int = 0
    warps: int = 0
    error: str = ""
    serialized: bool = False

    @property
    def clean(self) -> bool:
        """Whether all is in registers, and no WGMMA is serialized."""
        return not (self.error or self.stores or self.loads or self.stack or self.serialized)

    def __str__(self) -> str:
        if self.error:
            return self.error[:40]
        return f"{self.registers:>4} {self.stores:>6} {self.loads:>6} {self.stack:>5} {self.shared:>7} {self.warps:>3}{' serialized' * self.serialized}"


def ours(source: ASTSource | str, capability: int, options: dict[str, Any]) -> Usage:
    """What we make of a kernel, or of the file of a stage's text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kernel = compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    except (TritiumError, BackendError) as error:
        return Usage(error=_short(error))
    return _usage_of(kernel)


def _usage_of(kernel: CompiledKernel) -> Usage:
    m = kernel.metadata
    warps, serialized = m.num_warps, _is_serialized(m.remarks)
    return Usage(kernel.n_regs, m.spill_stores, m.spill_loads, m.stack_size, m.shared, warps, serialized=serialized)


def _is_serialized(remarks: Sequence[str]) -> bool:
    """Whether ptxas says that it serializes WGMMAs."""
    return any(explain(text).kind == "serialized-wgmma" for text in remarks)


def theirs(
    oracle: TritonOracle, path: Path, case: Case | ExampleKernel, constants: dict[str, Any], capability: int
) -> Usage:
    """What Triton makes of it, assembled here."""
    target = f"cuda:{capability}"
    return triton_usage(
        oracle,
        lambda: oracle.compile_kernel(
            path, case.kernel, case.signature, constants, target, case.divisible, **case.options, ptx_version=PTX
        ),
        capability,
        case.options.get("num_warps", 4),
    )


def triton_usage(oracle: TritonOracle, compiled: Callable[[], dict[str, str]], capability: int, warps: int) -> Usage:
    """What Triton makes of a kernel: `compiled` has it compile one, the PTX of which is assembled here."""
    try:
        found = assembled(compiled()["ptx"], capability)
    except (TritonError, TritiumError, BackendError) as error:
        return Usage(error=_short(error))
    shared = oracle.resources["shared"]
    serialized = _is_serialized(found.remarks)
    return Usage(
        found.registers, found.spill_stores, found.spill_loads, found.stack, shared, warps, serialized=serialized
    )


PTX = 88
"""The version that Triton is asked for: one that assemblers read which are older than its own."""


def assembled(ptx: str, capability: int) -> Resources:
    """What our assembler tells of a text."""
    return Assembler(assembler_options(NVPTXTarget.of(capability, None).name)).finish(ptx, kernel_name(ptx))[1]


def _short(error: Exception) -> str:
    lines = [line for line in str(error).split("\n") if line.strip()]
    return lines[0] if lines else type(error).__name__


def rows(chosen: argparse.Namespace, folder: Path, oracle: TritonOracle | None) -> Iterator[dict[str, Any]]:
    """A row for each configuration and chip, as it is compiled."""
    for capability in map(int, chosen.targets.split(",")):
        for one in [one for row in configurations() for one in (row, *_of_types(row, chosen.types))]:
            case = one.case
            if not (one.fits(capability) and (one.first or chosen.all) and case.name.startswith(chosen.only)):
                continue
            source, constants, path = source_of(case, chosen.checkout, folder)
            row = {"kernel": case.name, "label": one.label, "first": one.first, "target": capability}
            row["ours"] = ours(source, capability, case.options)
            if oracle is not None:
                row["theirs"] = theirs(oracle, path, case, constants, capability)
            yield row
        for example in examples():
            if capability < example.capability or not f"examples {example.name}".startswith(chosen.only):
                continue
            warps = example.options.get("num_warps", 4)
            source = ASTSource(
                getattr(load(example.example), example.kernel), example.signature, example.constants, example.attrs
            )
            row = {"kernel": f"examples {example.name}", "label": f"{warps} warps", "first": True, "target": capability}
            row["ours"] = ours(source, capability, example.options)
            if oracle is not None:
                path = folder / f"{example.example}.py"
                path.write_text(triton_text(example.example))
                row["theirs"] = theirs(oracle, path, example, example.constants, capability)
            yield row


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 if a kernel that a tutorial launches so spills, is serialized, or does not compile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--targets", default="80,90", help="compute capabilities times ten")
    parser.add_argument("--only", default="", help="kernels whose row starts so, such as `06` or `examples matmul`")
    parser.add_argument("--all", action="store_true", help="everything that autotuners try")
    parser.add_argument("--types", default="", help="element types that matmuls are compiled for, too")
    parser.add_argument("--json", type=Path, help="a file for the rows, one a line")
    chosen = parser.parse_args(arguments)
    tutorials = chosen.checkout / "python" / "tutorials"
    if not tutorials.is_dir():
        parser.error(f"there is no folder {tutorials}: the checkout is a clone of Triton or triton-cpu")
    interpreter = find_interpreter()
    oracle = TritonOracle(interpreter) if interpreter else None
    head = "registers, spill stores, loads, stack, shared, warps"
    print(f"{'kernel':<52} {'configuration':<30} {'chip':<6} ours: {head} | Triton: the same")
    bad = 0
    with tempfile.TemporaryDirectory() as temporary:
        for row in rows(chosen, Path(temporary), oracle):
            bad += row["first"] and not row["ours"].clean
            mark = " " if row["ours"].clean else "*"
            print(
                f"{row['kernel']:<52} {row['label']:<30} sm_{row['target']:<3}{mark}{row['ours']} | {row.get('theirs', '')}",
                flush=True,
            )
            if chosen.json:
                with chosen.json.open("a") as file:
                    file.write(json.dumps(row, default=vars) + "\n")
    if oracle is not None:
        oracle.close()
    print(f"{bad} of those that are launched so spill, have serialized WGMMAs, or do not compile")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

"""Triton's tutorial kernels through our frontend to `ttir`, and from there through Triton to machine code.

    python -m tests.conformance.tutorials CHECKOUT [--targets 80,90,100] [--only NAME] [--keep FOLDER]

CHECKOUT is a folder with Triton's sources (`python/tutorials/01-vector-add.py` and so on). Of each tutorial only the
functions are taken: no GPU, no torch and none of its set-up code is needed. For each kernel and target a row says
whether we make a `ttir`, whether Triton reads it, compiles it to PTX and to a cubin, and how the result compares with
what Triton makes of the same kernel by itself: the PTX without debug information, registers, shared memory. For sm_80
and sm_90 the other way, too: what Triton makes of the kernel as `ttir` and `ttgir` is compiled from there by us. Triton is
found as in `tests/triton_oracle.py`; without it the first column is all there is.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.triton_oracle import TritonError, TritonOracle, find_interpreter
from tritium.backends.errors import BackendError
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.support import TritiumError

__all__ = ["CASES", "Case", "Row", "compare", "extract", "main", "source_of"]

PRELUDE = """import {package} as triton
import {package}.language as tl
from {package}.language.extra import libdevice
"""


@dataclass(frozen=True)
class Case:
    """One kernel of the tutorial whose file starts with `tutorial`, for one set of types."""

    tutorial: str
    kernel: str
    signature: dict[str, str]
    divisible: dict[str, int]
    constants: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    capability: int = 80
    note: str = ""

    @property
    def name(self) -> str:
        """`01 add_kernel`, with a note where a kernel stands for several types."""
        return f"{self.tutorial} {self.kernel}{' ' + self.note if self.note else ''}"


def _case(tutorial: str, kernel: str, types: str, constants: dict[str, Any], capability: int = 80, **more: Any) -> Case:
    """`types` spells parameters as `x,y:*fp32:16 n:i32`: names, type, known divisor."""
    signature: dict[str, str] = {}
    divisible: dict[str, int] = {}
    for part in types.split(" "):
        names, ty, *divisor = part.split(":")
        for name in names.split(","):
            signature[name] = ty
            if divisor:
                divisible[name] = int(divisor[0])
    return Case(tutorial, kernel, signature, divisible, constants, capability=capability, **more)


_BLOCKS = {"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 8}
_STRIDES = {"stride_ak": 1, "stride_bn": 1, "stride_cn": 1}
_MATRICES = "a_ptr,b_ptr,c_ptr:*{0}:16 M,N,K:i32:16 stride_am,stride_bk,stride_cm:i32:16"
_GROUPED = "group_a_ptrs,group_b_ptrs,group_c_ptrs:*i64:16 group_gemm_sizes,g_lds:*i32:16 group_size:i32"
_DESCRIPTORS = "a_desc,b_desc:tensordesc<{0}[128,{1}]> c_desc:tensordesc<{0}[128,{2}]> M,N,K:i32:16"
_ATTENTION = "sm_scale:fp32 M:*fp32:16 Z,H:i32 desc_q,desc_k,desc_v,desc_o:{0} N_CTX:i32:16"
_FLASH = {"HEAD_DIM": 64, "BLOCK_M": 128, "BLOCK_N": 64, "FP8_OUTPUT": False, "IS_HOPPER": False}
_BACKWARD = {"BLOCK_M1": 32, "BLOCK_N1": 128, "BLOCK_M2": 128, "BLOCK_N2": 32, "BLK_SLICE_FACTOR": 2, "HEAD_DIM": 64}
_NORM = "Mean,Rstd:*fp32:16 stride,N:i32:16"
_FEW_WARPS, _MANY_WARPS = {"num_warps": 4}, {"num_warps": 8}
_SUBTILES = {**_BLOCKS, "NUM_SMS": 132}


def _scaled(note: str, a: int, b: int, vec: int, k: int) -> Case:
    """The block-scaled product: elements a byte of each operand, elements a scale, block size along K."""
    kinds = {1: "fp8e4nv", 2: "u8"}
    rep_k = k // vec // 4
    scale = "fp8e4nv" if vec == 16 else "u8"
    types = f"a_desc:tensordesc<{kinds[a]}[128,{k // a}]> b_desc:tensordesc<{kinds[b]}[256,{k // b}]>"
    types += f" a_scale_desc:tensordesc<{scale}[1,1,{rep_k},2,256]> b_scale_desc:tensordesc<{scale}[1,2,{rep_k},2,256]>"
    types += " c_desc:tensordesc<fp16[128,256]>"
    sizes = {"M": 8192, "N": 8192, "K": 8192, "output_type": 1, "ELEM_PER_BYTE_A": a, "ELEM_PER_BYTE_B": b}
    blocks = {"VEC_SIZE": vec, "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": k, "rep_m": 1, "rep_n": 2, "rep_k": rep_k}
    return _case("10", "block_scaled_matmul_kernel", types, {**sizes, **blocks, "NUM_STAGES": 3}, 100, note=note)


CASES = [
    _case("01", "add_kernel", "x_ptr,y_ptr,output_ptr:*fp32:16 n_elements:i32:16", {"BLOCK_SIZE": 1024}),
    _case(
        "02",
        "softmax_kernel",
        "output_ptr,input_ptr:*fp32:16 input_row_stride,output_row_stride:i32:16 n_rows,n_cols:i32",
        {"BLOCK_SIZE": 1024, "num_stages": 4},
        options=_MANY_WARPS,
    ),
    *(
        _case(
            "03",
            "matmul_kernel",
            _MATRICES.format(ty),
            {**_BLOCKS, **_STRIDES, "ACTIVATION": act},
            note=ty,
            options=_MANY_WARPS,
        )
        for ty, act in (("fp16", "leaky_relu"), ("fp8e5", ""))
    ),
    _case("04", "_dropout", "x_ptr,output_ptr:*fp32:16 x_keep_ptr:*i32:16 n_elements:i32 p:fp32", {"BLOCK_SIZE": 1024}),
    _case("04", "_seeded_dropout", "x_ptr,output_ptr:*fp32:16 n_elements:i32 p:fp32 seed:i32", {"BLOCK_SIZE": 1024}),
    _case(
        "05",
        "_layer_norm_fwd_fused",
        f"X,Y,W,B:*fp16:16 {_NORM} eps:fp32",
        {"BLOCK_SIZE": 1024},
        options=_MANY_WARPS,
    ),
    _case(
        "05",
        "_layer_norm_bwd_dx_fused",
        f"DX,DY,DW,DB,X,W:*fp16:16 Lock:*i32:16 {_NORM}",
        {"GROUP_SIZE_M": 64, "BLOCK_SIZE_N": 1024},
        options=_MANY_WARPS,
    ),
    _case(
        "05",
        "_layer_norm_bwd_dwdb",
        "DW,DB,FINAL_DW,FINAL_DB:*fp16:16 M,N:i32:16",
        {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 128},
    ),
    *(
        _case(
            "06",
            "_attn_fwd",
            _ATTENTION.format(kind),
            {**_FLASH, "STAGE": stage, "warp_specialize": ws},
            capability,
            note=note,
        )
        for note, kind, stage, ws, capability in (
            ("full", "*fp16:16", 1, False, 80),
            ("causal", "*fp16:16", 3, False, 80),
            ("warp-specialized", "*fp16:16", 1, True, 90),
        )
    ),
    _case(
        "06",
        "_attn_fwd",
        "sm_scale:fp32 M:*fp32:16 Z,H:i32 desc_q,desc_o:tensordesc<fp16[128,64]> desc_k,desc_v:tensordesc<fp16[64,64]>"
        " N_CTX:i32:16",
        {**_FLASH, "STAGE": 3, "warp_specialize": False},
        90,
        note="descriptors from the host",
    ),
    _case(
        "06",
        "_attn_bwd_preprocess",
        "O,DO:*fp16:16 Delta:*fp32:16 Z,H:i32 N_CTX:i32:16",
        {"BLOCK_M": 128, "HEAD_DIM": 64},
    ),
    _case(
        "06",
        "_attn_bwd",
        "Q,K,V,DO,DQ,DK,DV:*fp16:16 sm_scale:fp32 M,D:*fp32:16 stride_z,stride_h,stride_tok,N_CTX:i32:16 H:i32",
        {**_BACKWARD, "stride_d": 1, "CAUSAL": True},
        options={"num_warps": 4, "num_stages": 5},
    ),
    *(
        _case("07", "asin_kernel", f"x_ptr,y_ptr:*{ty}:16 n_elements:i32", {"BLOCK_SIZE": 1024}, note=ty)
        for ty in ("fp32", "fp64")
    ),
    _case("08", "grouped_matmul_kernel", _GROUPED, {**_BLOCKS, "NUM_SM": 84, "GROUP_SIZE_M": None}),
    *(
        _case("08", "grouped_matmul_tma_kernel", _GROUPED, {**_BLOCKS, "NUM_SM": 84, "FP8": fp8}, 90, note=note)
        for note, fp8 in (("fp16", False), ("fp8", True))
    ),
    _case("09", "matmul_kernel", _MATRICES.format("fp16"), {**_BLOCKS, **_STRIDES}),
    _case("09", "matmul_kernel_persistent", _MATRICES.format("fp16"), {**_BLOCKS, **_STRIDES, "NUM_SMS": 132}),
    *(
        _case(
            "09",
            "matmul_kernel_tma",
            _DESCRIPTORS.format("fp16", 64, 128),
            {**_BLOCKS, "FP8_OUTPUT": False, "WARP_SPECIALIZE": ws},
            90,
            note=note,
        )
        for note, ws in (("", False), ("warp-specialized", True))
    ),
    *(
        _case(
            "09",
            "matmul_kernel_tma_persistent",
            _DESCRIPTORS.format(ty, 64, 64 if sub else 128),
            {**_SUBTILES, "FP8_OUTPUT": ty != "fp16", "EPILOGUE_SUBTILE": sub, "WARP_SPECIALIZE": ws},
            90,
            note=note,
        )
        for note, ty, sub, ws in (
            ("", "fp16", False, False),
            ("fp8 subtiles", "fp8e4nv", True, False),
            ("warp-specialized", "fp16", False, True),
        )
    ),
    *(
        _case(
            "09",
            "matmul_kernel_descriptor_persistent",
            "a_ptr,b_ptr,c_ptr:*fp16:16 M,N,K:i32:16",
            {**_SUBTILES, "EPILOGUE_SUBTILE": sub, "WARP_SPECIALIZE": ws, "FLATTEN": True},
            capability,
            note=note,
        )
        for note, sub, ws, capability in (("", False, False, 80), ("subtiles", True, False, 90))
    ),
    _scaled("mxfp8", 1, 1, 32, 128),
    _scaled("mxfp4", 2, 2, 32, 256),
    _scaled("nvfp4", 2, 2, 16, 256),
    _scaled("mixed", 1, 2, 32, 128),
    _case(
        "10",
        "block_scaled_matmul_kernel_cdna4",
        "a_ptr,b_ptr,a_scales_ptr,b_scales_ptr:*u8:16 c_ptr:*fp16:16 M,N,K:i32:16"
        " stride_am,stride_bn,stride_ck,stride_cm,stride_asm,stride_bsn:i32:16",
        {
            "stride_ak": 1,
            "stride_bk": 1,
            "stride_cn": 1,
            "stride_ask": 1,
            "stride_bsk": 1,
            "BLOCK_M": 128,
            "BLOCK_N": 128,
            "BLOCK_K": 256,
            "mfma_nonkdim": 16,
        },
    ),
    _case(
        "11",
        "add_kernel",
        "x_ptr,y_ptr,output_ptr:*fp32:16 n_elements:i32:16",
        {"BLOCK_SIZE": 1024, "USE_GDC": True},
        90,
    ),
]


def extract(checkout: Path, tutorial: str, package: str) -> str:
    """The functions of a tutorial that `jit` decorates, with that decorator only, as a program for `package`.

    Every function stands at its own lines, so that locations agree with the tutorial's.
    """
    (path,) = [p for p in sorted((checkout / "python" / "tutorials").glob(f"{tutorial}-*.py")) if "-cpu" not in p.name]
    text = path.read_text()
    lines = text.split("\n")
    out = PRELUDE.format(package=package).split("\n")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in node.decorator_list):
            out += [""] * (node.lineno - 2 - len(out))
            out += ["@triton.jit", *lines[node.lineno - 1 : node.end_lineno]]
    return "\n".join(out) + "\n"


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", path.stem), path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class Row:
    """What became of one kernel for one target: each of the steps, up to the first that failed."""

    case: Case
    target: int
    steps: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    ours: dict[str, int] = field(default_factory=dict)
    theirs: dict[str, int] = field(default_factory=dict)

    @property
    def fine(self) -> bool:
        """True when every step that was tried succeeded."""
        return not self.problem


def without_debug(ptx: str) -> str:
    """A PTX text without locations, comments and debug sections."""
    kept = []
    for line in ptx.split("\n"):
        line = line.split("//")[0].strip()
        if line.startswith((".section", ".file")) and "debug" in line:
            break
        if line and not line.startswith((".loc", ".file", "$L__tmp", "$L__func")):
            kept.append(line)
    return "\n".join(kept)


def source_of(case: Case, checkout: Path, folder: Path) -> tuple[ASTSource, dict[str, Any], Path]:
    """The kernel as we compile it, its constants, and the file of `folder` in which Triton finds it."""
    paths = {}
    for package in ("tritium", "triton"):
        paths[package] = folder / package / f"tutorial_{case.tutorial}.py"
        paths[package].parent.mkdir(exist_ok=True)
        paths[package].write_text(extract(checkout, case.tutorial, package))
    fn = getattr(_load(paths["tritium"]), case.kernel)
    constants = {n: v for n, v in case.constants.items() if n in fn.arg_names}
    attrs = {(fn.arg_names.index(n),): [["tt.divisibility", d]] for n, d in case.divisible.items()}
    return ASTSource(fn, case.signature, constants, attrs), constants, paths["triton"]


def compare(case: Case, target: int, checkout: Path, folder: Path, oracle: TritonOracle | None) -> Row:
    """Compile one kernel for `sm_<target>` both ways."""
    row = Row(case, target)
    source, constants, path = source_of(case, checkout, folder)
    try:
        text = compile(source, target=GPUTarget("cuda", target, 32), options=case.options, until="ttir").asm["ttir"]
    except TritiumError as error:
        row.steps["ttir"], row.problem = "no", str(error)
        return row
    row.steps["ttir"] = "ok"
    stem = folder / re.sub(r"\W+", "_", f"{case.name}_{target}")
    stem.with_suffix(".ours.ttir").write_text(text)
    if oracle is not None:
        _through_triton(row, text, str(path), constants, oracle, stem)
    return row


def _through_triton(
    row: Row, text: str, path: str, constants: dict[str, Any], oracle: TritonOracle, stem: Path
) -> None:
    case, target = row.case, f"cuda:{row.target}"
    try:
        theirs = oracle.compile_kernel(
            path, case.kernel, case.signature, constants, target, case.divisible, **case.options
        )
        row.theirs = oracle.resources
    except TritonError as error:
        theirs = {}
        row.steps["same ptx"] = "Triton fails: " + str(error).split("\n")[0]
    if theirs and row.target in OURS:
        _through_us(row, theirs, stem)
    try:
        oracle.read(text)
        row.steps["accepted"] = "ok"
        ours = oracle.compile_text(text, target, **case.options)
        row.steps["ptx"], row.steps["cubin"], row.ours = "ok", "ok", oracle.resources
    except TritonError as error:
        row.steps["cubin" if "accepted" in row.steps else "accepted"] = "no"
        if theirs or "accepted" not in row.steps:  # what Triton cannot compile by itself is no fault of the text
            row.problem = str(error)
        return
    if theirs:
        stem.with_suffix(".ours.ptx").write_text(ours["ptx"])
        stem.with_suffix(".theirs.ptx").write_text(theirs["ptx"])
        row.steps["same ptx"] = "yes" if without_debug(ours["ptx"]) == without_debug(theirs["ptx"]) else "no"


def _through_us(row: Row, theirs: dict[str, str], stem: Path) -> None:
    """Triton's own texts of stages, compiled from there on by us, for chips that we make code for."""
    for stage in ("ttir", "ttgir"):
        path = stem.with_suffix(f".theirs.{stage}")
        path.write_text(theirs[stage])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # spilled registers
                kernel = compile(path, target=GPUTarget("cuda", row.target, 32))
            row.steps[f"of {stage}"] = "ok" if kernel.kernel.startswith(b"\x7fELF") else "no"
        except (TritiumError, BackendError) as error:
            row.steps[f"of {stage}"], row.problem = "no", f"from Triton's {stage}: {error}"


OURS = (80, 90)  # chips that texts of Triton are compiled for by us
COLUMNS = ("ttir", "accepted", "ptx", "cubin", "same ptx", "of ttir", "of ttgir")


def _line(row: Row) -> str:
    cells = " ".join(f"{row.steps.get(c, '-'):>8}" for c in COLUMNS)
    usage = " ".join(f"{k} {row.ours[k]}" + ("" if v == row.ours[k] else f" ({v})") for k, v in row.theirs.items())
    return f"{row.case.name:<58} sm_{row.target:<4} {cells}  {usage}"


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 if a kernel does not get through."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--targets", default="80,90,100", help="compute capabilities times ten")
    parser.add_argument(
        "--only", default="", help="kernels whose row starts so, such as `06` or `09 matmul_kernel_tma`"
    )
    parser.add_argument("--keep", type=Path, help="a folder for all texts")
    chosen = parser.parse_args(arguments)
    interpreter = find_interpreter()
    oracle = TritonOracle(interpreter) if interpreter else None
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{'kernel':<58} {'target':<7} " + " ".join(f"{c:>8}" for c in COLUMNS) + "  ours (Triton's own)")
        rows = []
        for case in CASES:
            for target in map(int, chosen.targets.split(",")):
                if target < case.capability or not case.name.startswith(chosen.only):
                    continue
                rows.append(compare(case, target, chosen.checkout, folder, oracle))
                print(_line(rows[-1]), flush=True)
                if rows[-1].problem:
                    print("    " + rows[-1].problem.strip().replace("\n", "\n    "))
    if oracle is not None:
        oracle.close()
    good = sum(row.fine for row in rows)
    refused = sum(row.steps.get("cubin") == "no" and row.fine for row in rows)
    same = sum(row.steps.get("same ptx") == "yes" for row in rows)
    print(f"{good - refused} of {len(rows)} get through; {refused} fail as they do in Triton by itself")
    print(f"the PTX is Triton's own, byte for byte without debug lines, for {same}")
    return 0 if good == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())

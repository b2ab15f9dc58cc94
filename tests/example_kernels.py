"""Every kernel of examples/ with the types and constants it is compiled for where no launch says them.

The table is for tests that compare compilers: `cases()` gives a case each, `load(example)` the example as a module, and
`triton_text(example)` its source for Triton itself, which differs in the names of the packages only.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["EXAMPLES", "ExampleKernel", "cases", "load", "triton_text"]

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@dataclass(frozen=True)
class ExampleKernel:
    """One kernel for one set of types: `signature`, `constants` and `divisible` are by parameter name.

    `capability` is the least compute capability of a GPU that can run it.
    """

    name: str
    example: str
    kernel: str
    signature: dict[str, str]
    constants: dict[str, Any] = field(default_factory=dict)
    divisible: dict[str, int] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    capability: int = 80

    @property
    def attrs(self) -> dict[tuple[int, ...], list[list[Any]]]:
        """`divisible` as sources take it: by the path of the parameter."""
        names = load(self.example).__dict__[self.kernel].arg_names
        return {(names.index(n),): [["tt.divisibility", d]] for n, d in self.divisible.items()}


def _case(
    name: str,
    kernel: str,
    types: str,
    constants: dict[str, Any] | None = None,
    options: dict[str, Any] | None = None,
    capability: int = 80,
) -> ExampleKernel:
    """`name` is `example` or `example-variant`; `types` spells parameters as `x:*fp32:16 n:i32`, or `x,y:*fp32`."""
    signature: dict[str, str] = {}
    divisible: dict[str, int] = {}
    for part in types.split():
        names, ty, *divisor = part.split(":")
        for one in names.split(","):
            signature[one] = ty
            if divisor:
                divisible[one] = int(divisor[0])
    example = name.split("-")[0]
    return ExampleKernel(name, example, kernel, signature, constants or {}, divisible, options or {}, capability)


_MATMUL = {"stride_ak": 1, "stride_bn": 1, "stride_cn": 1, "BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 128}
_MATMUL |= {"BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 8}
_LAYER_NORM = "X,Y,W,B:*fp16:16 Mean,Rstd:*fp32:16 stride,N:i32:16 eps:fp32"
_LAYER_NORM_DX = "DX,DY,DW,DB,X,W:*fp16:16 Mean,Rstd:*fp32:16 Lock:*i32:16 stride,N:i32:16"
_ATTENTION = {"HEAD_DIM": 64, "BLOCK_M": 64, "BLOCK_N": 32}
_TILES = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8}
_SCALED = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 128}
_BACKWARD = "q_ptr,k_ptr,v_ptr,d_out_ptr:*fp16:16 logsum_ptr,delta_ptr:*fp32:16 "

CASES = [
    _case("vector_add", "add_kernel", "x_ptr,y_ptr,output_ptr:*fp32:16 n_elements:i32:16", {"BLOCK_SIZE": 1024}),
    _case(
        "fused_softmax",
        "softmax_kernel",
        "output_ptr,input_ptr:*fp32:16 input_row_stride,output_row_stride:i32:16 n_rows,n_cols:i32",
        {"BLOCK_SIZE": 1024, "num_stages": 4},
        {"num_warps": 8},
    ),
    *(
        _case(
            f"matmul-{ty}{'-' + activation if activation else ''}",
            "matmul_kernel",
            f"a_ptr,b_ptr,c_ptr:*{ty}:16 M,N,K:i32:16 stride_am,stride_bk,stride_cm:i32:16",
            {**_MATMUL, "BLOCK_SIZE_K": 32 if ty == "fp32" else 64, "ACTIVATION": activation},
            {"num_warps": 8},
        )
        for ty, activation in (("fp16", "leaky_relu"), ("fp32", ""), ("fp8e5", ""))
    ),
    _case(
        "low_memory_dropout-mask",
        "_dropout",
        "x_ptr:*fp32:16 x_keep_ptr:*i32:16 output_ptr:*fp32:16 n_elements:i32 p:fp32",
        {"BLOCK_SIZE": 1024},
    ),
    _case(
        "low_memory_dropout-seed",
        "_seeded_dropout",
        "x_ptr,output_ptr:*fp32:16 n_elements:i32 p:fp32 seed:i32",
        {"BLOCK_SIZE": 1024},
    ),
    _case("layer_norm-forward", "_layer_norm_fwd_fused", _LAYER_NORM, {"BLOCK_SIZE": 1024}, {"num_warps": 8}),
    _case(
        "layer_norm-backward_dx",
        "_layer_norm_bwd_dx_fused",
        _LAYER_NORM_DX,
        {"GROUP_SIZE_M": 64, "BLOCK_SIZE_N": 1024},
        {"num_warps": 8},
    ),
    _case(
        "layer_norm-backward_dwdb",
        "_layer_norm_bwd_dwdb",
        "DW,DB,FINAL_DW,FINAL_DB:*fp16:16 M,N:i32:16",
        {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 128},
    ),
    *(
        _case(
            f"attention-forward{'-causal' if causal else ''}",
            "attention_forward",
            "q_ptr,k_ptr,v_ptr,out_ptr:*fp16:16 logsum_ptr:*fp32:16 N_CTX:i32:16 scale:fp32",
            {**_ATTENTION, "CAUSAL": causal, "WARP_SPECIALIZE": False},
        )
        for causal in (False, True)
    ),
    _case(
        "attention-delta",
        "attention_delta",
        "out_ptr,d_out_ptr:*fp16:16 delta_ptr:*fp32:16 n_rows:i32:16",
        {"HEAD_DIM": 64, "BLOCK_M": 64},
    ),
    _case(
        "attention-backward_keys",
        "attention_backward_keys",
        _BACKWARD + "d_k_ptr,d_v_ptr:*fp16:16 N_CTX:i32:16 scale:fp32",
        {**_ATTENTION, "CAUSAL": True},
    ),
    _case(
        "attention-backward_queries",
        "attention_backward_queries",
        _BACKWARD + "d_q_ptr:*fp16:16 N_CTX:i32:16 scale:fp32",
        {**_ATTENTION, "CAUSAL": True},
    ),
    _case(
        "attention-forward-warp_specialized",
        "attention_forward",
        "q_ptr,k_ptr,v_ptr,out_ptr:*fp16:16 logsum_ptr:*fp32:16 N_CTX:i32:16 scale:fp32",
        {**_ATTENTION, "BLOCK_M": 128, "BLOCK_N": 64, "CAUSAL": False, "WARP_SPECIALIZE": True},
        capability=100,
    ),
    _case("library_functions-asin", "asin_kernel", "x_ptr,y_ptr:*fp64:16 n_elements:i32", {"BLOCK_SIZE": 1024}),
    *(
        _case(
            f"library_functions-gelu{'' if exact else '-approximate'}",
            "gelu_kernel",
            "x_ptr,y_ptr:*fp16:16 n_elements:i32",
            {"BLOCK_SIZE": 1024, "EXACT": exact},
        )
        for exact in (True, False)
    ),
    _case(
        "grouped_matmul",
        "grouped_matmul_kernel",
        "a_ptrs,b_ptrs,c_ptrs:*i64:16 sizes_ptr,strides_ptr:*i32:16 n_products:i32",
        {"DTYPE": "fp16", "PROGRAMS": 132, "BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 64},
        {"num_warps": 8},  # rows of any stride are read an element at a time: more of them do not fit in registers
    ),
    _case(
        "persistent_matmul-pointers",
        "matmul_persistent_kernel",
        "a_ptr,b_ptr,c_ptr:*fp16:16 M,N,K,stride_am,stride_bk,stride_cm:i32:16",
        {**_TILES, "PROGRAMS": 132},
        {"num_warps": 8},
    ),
    *(
        _case(
            f"persistent_matmul-descriptors{'-halves' if halves else ''}{'-warp_specialized' if ws else ''}",
            "matmul_descriptors_kernel",
            f"a_ptr,b_ptr,c_ptr:*{ty}:16 M,N,K:i32:16",
            {**_TILES, "PROGRAMS": 132, "HALVES": halves, "WARP_SPECIALIZE": ws},
            capability=capability,
        )
        for ty, halves, ws, capability in (
            ("fp16", False, False, 80),
            ("fp8e4nv", True, False, 90),
            ("fp16", False, True, 100),
        )
    ),
    _case(
        "persistent_matmul-host_descriptors",
        "matmul_host_descriptors_kernel",
        "a_desc,b_desc:tensordesc<fp16[128,64]> c_desc:tensordesc<fp16[128,128]> K:i32:16",
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64},
        capability=90,
    ),
    *(
        _case(
            f"block_scaled_matmul-{name}",
            "block_scaled_matmul_kernel",
            f"a_ptr:*{kinds[0]}:16 b_ptr:*{kinds[1]}:16 a_scale_ptr,b_scale_ptr:*u8:16 c_ptr:*fp16:16 M,N,K:i32:16",
            {**_SCALED, "A_FORMAT": formats[0], "B_FORMAT": formats[1], "GROUP": 32},
            {"num_warps": 8},
            capability=capability,
        )
        for name, kinds, formats, capability in (
            ("mxfp8", ("fp8e4nv", "fp8e5"), ("e4m3", "e5m2"), 90),
            ("mxfp4", ("u8", "u8"), ("e2m1", "e2m1"), 80),
            ("mixed", ("u8", "u8"), ("e4m3", "e2m1"), 90),
        )
    ),
    _case(
        "block_scaled_matmul-nvfp4",
        "block_scaled_matmul_kernel",
        "a_ptr,b_ptr:*u8:16 a_scale_ptr,b_scale_ptr:*fp8e4nv:16 c_ptr:*fp16:16 M,N,K:i32:16",
        {**_SCALED, "A_FORMAT": "e2m1", "B_FORMAT": "e2m1", "GROUP": 16},
        {"num_warps": 8},
        capability=100,
    ),
    _case(
        "dependent_launch-scale",
        "scale_kernel",
        "x_ptr,y_ptr:*fp32:16 n_elements:i32:16 factor:fp32",
        {"BLOCK_SIZE": 1024, "OVERLAP": True},
        {"launch_pdl": True},
        capability=90,
    ),
    _case(
        "dependent_launch-add",
        "add_kernel",
        "x_ptr,y_ptr,out_ptr:*fp32:16 n_elements:i32:16",
        {"BLOCK_SIZE": 1024, "OVERLAP": True},
        {"launch_pdl": True},
        capability=90,
    ),
]


def cases() -> list[ExampleKernel]:
    """All kernels, each for at least one set of types."""
    return CASES


@lru_cache
def load(example: str) -> ModuleType:
    """`examples/<example>.py` as a module."""
    spec = importlib.util.spec_from_file_location(f"examples_{example}", EXAMPLES / f"{example}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def triton_text(example: str) -> str:
    """The source of an example as a program for Triton, line by line the same."""
    text = (EXAMPLES / f"{example}.py").read_text()
    return text.replace("import tritium as triton", "import triton").replace("tritium", "triton")

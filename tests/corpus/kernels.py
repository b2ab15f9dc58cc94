"""Which of Triton's tutorial kernels are recorded, in which variants, for which targets.

Those of our own examples stand in `tests/example_kernels.py`. `args` gives each argument that is no constant its type and, behind a colon, the divisor that is known of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["GPUS", "NVIDIA", "TUTORIALS", "Kernel"]

NVIDIA = ("cuda:80", "cuda:90", "cuda:100", "cuda:120")
GPUS = (*NVIDIA, "hip:gfx942")
HOPPER_ON = ("cuda:90", "cuda:100")


class Kernel(NamedTuple):
    """One compilation: a kernel of a file, what its arguments are, and for whom."""

    file: str
    function: str
    args: dict[str, str]
    constants: dict[str, Any]
    options: dict[str, int] = {}
    targets: tuple[str, ...] = GPUS
    variant: str = ""

    @property
    def name(self) -> str:
        """The first part of the names of its files."""
        stem = self.file.removesuffix(".py")
        return f"{stem}.{self.function.strip('_')}" + (f".{self.variant}" if self.variant else "")


def pointers(names: str, element: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), f"*{element}:16")


def integers(names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), "i32:16")


BLOCKS = {"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 8}
SMALL = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 8}
STRIDES = integers("M N K stride_am stride_bk stride_cm")
UNIT_STRIDES = {"stride_ak": 1, "stride_bn": 1, "stride_cn": 1}

FIRST_FIVE = [
    Kernel("vector_add.py", "add_kernel", pointers("x_ptr y_ptr output_ptr", "fp32") | integers("n_elements"), {"BLOCK_SIZE": 1024}),
    Kernel(
        "fused_softmax.py",
        "softmax_kernel",
        pointers("output_ptr input_ptr", "fp32") | integers("input_row_stride output_row_stride n_rows") | {"n_cols": "i32"},
        {"BLOCK_SIZE": 1024, "num_stages": 2},
        {"num_warps": 8},
    ),
    Kernel(
        "matmul.py", "matmul_kernel", pointers("a_ptr b_ptr c_ptr", "fp16") | STRIDES, BLOCKS | UNIT_STRIDES | {"ACTIVATION": "leaky_relu"},
        {"num_warps": 8, "num_stages": 3},
    ),
    Kernel(
        "matmul.py", "matmul_kernel", pointers("a_ptr b_ptr", "fp8e5") | pointers("c_ptr", "fp16") | STRIDES, SMALL | UNIT_STRIDES | {"ACTIVATION": ""},
        {"num_warps": 4, "num_stages": 4}, variant="fp8",
    ),
    Kernel(
        "low_memory_dropout.py", "_dropout",
        pointers("x_ptr output_ptr", "fp32") | {"x_keep_ptr": "*i32:16", "n_elements": "i32", "p": "fp32"}, {"BLOCK_SIZE": 1024},
    ),
    Kernel(
        "low_memory_dropout.py", "_seeded_dropout",
        pointers("x_ptr output_ptr", "fp32") | {"n_elements": "i32", "p": "fp32", "seed": "i32"}, {"BLOCK_SIZE": 1024},
    ),
    Kernel(
        "layer_norm.py", "_layer_norm_fwd_fused",
        pointers("X Y W B", "fp16") | pointers("Mean Rstd", "fp32") | integers("stride N") | {"eps": "fp32"}, {"BLOCK_SIZE": 2048},
        {"num_warps": 8},
    ),
    Kernel(
        "layer_norm.py", "_layer_norm_bwd_dx_fused",
        pointers("DX DY DW DB X W", "fp16") | pointers("Mean Rstd", "fp32") | {"Lock": "*i32:16"} | integers("stride N"),
        {"GROUP_SIZE_M": 96, "BLOCK_SIZE_N": 2048}, {"num_warps": 8},
    ),
    Kernel(
        "layer_norm.py", "_layer_norm_bwd_dwdb",
        pointers("DW DB FINAL_DW FINAL_DB", "fp16") | {"M": "i32", "N": "i32:16"}, {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 128},
    ),
]  # fmt: skip

TILE = "tensordesc<{0}[{1}, {2}]>"
POINTER_MATMUL = pointers("a_ptr b_ptr c_ptr", "fp16") | STRIDES
BLOCK_SCALES = integers("M N K stride_am stride_bn stride_cm stride_asm stride_bsn") | {"stride_ck": "i32:16"}


def attention(element: str, stage: int, warps: int, specialize: bool, head: int, hopper: bool, host: bool) -> Kernel:
    block_m, block_n = 128, 64 if head == 64 else 128
    shapes = {"q": (block_m, head), "k": (block_n, head), "v": (block_n, head), "o": (block_m, head)}
    if element == "fp8e5":
        shapes["v"] = (head, block_n)
    descs = {f"desc_{n}": TILE.format(element, *s) if host else f"*{element}:16" for n, s in shapes.items()}
    constants = {
        "HEAD_DIM": head,
        "BLOCK_M": block_m,
        "BLOCK_N": block_n,
        "FP8_OUTPUT": element == "fp8e5",
        "STAGE": stage,
    }
    variant = "-".join(
        [element, f"d{head}", "causal" if stage == 3 else "full", "host" if host else "device"] + ["ws"] * specialize
    )
    targets = (
        (("cuda:90",) if hopper else ("cuda:100",))
        if specialize
        else GPUS
        if host
        else ("cuda:80", "cuda:90", "hip:gfx942")
    )
    return Kernel(
        "06-fused-attention.py", "_attn_fwd", {"sm_scale": "fp32", "M": "*fp32:16", "Z": "i32", "H": "i32", "N_CTX": "i32:16"} | descs,
        constants | {"warp_specialize": specialize, "IS_HOPPER": hopper}, {"num_warps": warps, "num_stages": 3}, targets, variant,
    )  # fmt: skip


def block_scaled(kind: str) -> Kernel:
    half_a, half_b = "fp4" in kind, kind != "mxfp8"
    block_k, vec = (256 if half_a else 128), (16 if kind == "nvfp4" else 32)
    reps = {"rep_m": 1, "rep_n": 2, "rep_k": block_k // vec // 4}
    a_type, b_type = ("u8" if half_a else "fp8e4nv"), ("u8" if half_b else "fp8e4nv")
    scale_type = "fp8e4nv" if kind == "nvfp4" else "u8"
    per_a, per_b = 1 + half_a, 1 + half_b
    args = {
        "a_desc": TILE.format(a_type, 128, block_k // per_a),
        "a_scale_desc": f"tensordesc<{scale_type}[1, {reps['rep_m']}, {reps['rep_k']}, 2, 256]>",
        "b_desc": TILE.format(b_type, 256, block_k // per_b),
        "b_scale_desc": f"tensordesc<{scale_type}[1, {reps['rep_n']}, {reps['rep_k']}, 2, 256]>",
        "c_desc": TILE.format("fp16", 128, 256),
    }
    constants = {"M": 8192, "N": 8192, "K": 8192, "output_type": 1, "ELEM_PER_BYTE_A": per_a, "ELEM_PER_BYTE_B": per_b}
    constants |= {"VEC_SIZE": vec, "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": block_k, "NUM_STAGES": 4}
    return Kernel(
        "10-block-scaled-matmul.py", "block_scaled_matmul_kernel", args, constants | reps, {},
        ("cuda:100", "cuda:120") if kind != "nvfp4" else ("cuda:100",), kind,
    )  # fmt: skip


def persistent() -> list[Kernel]:
    file, out = "09-persistent-matmul.py", []
    out.append(Kernel(file, "matmul_kernel", POINTER_MATMUL, BLOCKS | UNIT_STRIDES, {"num_warps": 8, "num_stages": 3}))
    out.append(
        Kernel(
            file, "matmul_kernel_persistent", POINTER_MATMUL, BLOCKS | UNIT_STRIDES | {"NUM_SMS": 132}, {"num_warps": 8}
        )
    )
    for element in ("fp16", "fp8e4nv"):
        for ws in (False, True):
            args = {
                n: TILE.format(element, *s)
                for n, s in (("a_desc", (128, 64)), ("b_desc", (128, 64)), ("c_desc", (128, 128)))
            }
            args |= integers("M N K")
            fixed = BLOCKS | {"FP8_OUTPUT": element != "fp16", "WARP_SPECIALIZE": ws}
            targets = HOPPER_ON if ws or element != "fp16" else NVIDIA
            variant = element + "-ws" * ws
            for target in targets:
                warps = {"num_warps": 8 if ws and target == "cuda:90" else 4}
                out.append(Kernel(file, "matmul_kernel_tma", args, fixed, warps, (target,), variant))
            for sub in (False, True):
                args = args | {"c_desc": TILE.format(element, 128, 64 if sub else 128)}
                more = fixed | {"EPILOGUE_SUBTILE": sub, "NUM_SMS": 132}
                name = variant + "-sub" * sub
                out.append(Kernel(file, "matmul_kernel_tma_persistent", args, more, {"num_warps": 4}, targets, name))
                if element == "fp16":
                    more = {k: v for k, v in more.items() if k != "FP8_OUTPUT"} | {"FLATTEN": not ws}
                    args_ = pointers("a_ptr b_ptr c_ptr", element) | integers("M N K")
                    out.append(
                        Kernel(
                            file, "matmul_kernel_descriptor_persistent", args_, more, {"num_warps": 4}, targets, name
                        )
                    )
    return out


BWD = {"BLOCK_M1": 32, "BLOCK_N1": 128, "BLOCK_M2": 128, "BLOCK_N2": 32, "BLK_SLICE_FACTOR": 2, "HEAD_DIM": 64}
FP16 = pointers("Q K V DO DQ DK DV", "fp16") | pointers("M D", "fp32") | {"sm_scale": "fp32"}
GROUPED = {"group_a_ptrs": "*i64:16", "group_b_ptrs": "*i64:16", "group_c_ptrs": "*i64:16", "group_size": "i32"}
GROUPED |= {"group_gemm_sizes": "*i32:16", "g_lds": "*i32:16"}
GROUP_BLOCKS = {"NUM_SM": 84, "BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64}
NAMES = {
    "vector_add.py": "01-vector-add.py",
    "fused_softmax.py": "02-fused-softmax.py",
    "matmul.py": "03-matrix-multiplication.py",
    "low_memory_dropout.py": "04-low-memory-dropout.py",
    "layer_norm.py": "05-layer-norm.py",
}

TUTORIALS = [kernel._replace(file=NAMES[kernel.file]) for kernel in FIRST_FIVE] + [
    *(attention(e, stage, 4, False, 64, False, host) for e in ("fp16",) for stage in (1, 3) for host in (True, False)),
    attention("fp16", 3, 8, False, 128, False, True),
    attention("fp16", 3, 8, True, 128, True, False),
    attention("fp16", 3, 4, True, 128, False, True),
    attention("fp16", 1, 4, True, 64, False, True),
    attention("fp8e5", 3, 4, True, 128, False, True),
    Kernel(
        "06-fused-attention.py", "_attn_bwd_preprocess", pointers("O DO", "fp16") | {"Delta": "*fp32:16", "Z": "i32", "H": "i32", "N_CTX": "i32:16"},
        {"BLOCK_M": 128, "HEAD_DIM": 64},
    ),
    *(
        Kernel(
            "06-fused-attention.py", "_attn_bwd", FP16 | integers("stride_z stride_h stride_tok H N_CTX"), BWD | {"stride_d": 1, "CAUSAL": causal},
            {"num_warps": 4, "num_stages": 5}, variant="causal" if causal else "full",
        )
        for causal in (True, False)
    ),
    Kernel("07-extern-functions.py", "asin_kernel", pointers("x_ptr y_ptr", "fp32") | {"n_elements": "i32:16"}, {"BLOCK_SIZE": 1024}),
    Kernel("08-grouped-gemm.py", "grouped_matmul_kernel", GROUPED, GROUP_BLOCKS),
    *(
        Kernel("08-grouped-gemm.py", "grouped_matmul_tma_kernel", GROUPED, GROUP_BLOCKS | {"FP8": fp8}, {}, t, "fp8" if fp8 else "fp16")
        for fp8, t in ((False, GPUS), (True, HOPPER_ON))
    ),
    *persistent(),
    *map(block_scaled, ("nvfp4", "mxfp4", "mxfp8", "mixed")),
    Kernel(
        "10-block-scaled-matmul.py", "block_scaled_matmul_kernel_cdna4", pointers("a_ptr b_ptr a_scales_ptr b_scales_ptr", "u8") | pointers("c_ptr", "fp32") | BLOCK_SCALES,
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 256, "mfma_nonkdim": 16, "stride_ak": 1, "stride_bk": 1, "stride_cn": 1, "stride_ask": 1, "stride_bsk": 1},
        {"num_warps": 8, "num_stages": 2}, ("hip:gfx942", "hip:gfx950", "cuda:90", "cuda:100"),
    ),
    Kernel(
        "11-programmatic-dependent-launch.py", "add_kernel", pointers("x_ptr y_ptr output_ptr", "fp32") | integers("n_elements"), {"BLOCK_SIZE": 1024, "USE_GDC": True},
        {}, HOPPER_ON,
    ),
]  # fmt: skip

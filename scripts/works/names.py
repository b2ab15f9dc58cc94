"""The names that the page "what works" lists, by topic, and where a name has no test because of what hardware is.

`tl.__all__` and `tritium.__all__` have to be covered: a test asks. A topic of the language lists names below `tl`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import tritium.language as tl
from tritium.frontend.language.libdevice_symbols import library_names
from tritium.language.extra import cuda, libdevice

__all__ = ["AMD", "HOST", "NOTES", "REASONS", "TARGETS", "Topic", "all_names", "objects", "topics"]

TARGETS = ("cpu", "interpreter", "nvidia", "amd")
AMD = ("gfx942", "gfx1100")
"""The emulated AMD GPUs that tests run on."""
HOST = "host"  # names that have no target: functions and classes around kernels


@dataclass(frozen=True)
class Topic:
    """A table of the page. `targets` are what its names have to be shown on."""

    title: str
    names: tuple[str, ...]
    targets: tuple[str, ...] = TARGETS


def _below(prefix: str, names: str) -> tuple[str, ...]:
    return tuple(f"{prefix}.{name}" for name in names.split())


_LANGUAGE = {
    "Element types": "int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64"
    " float8e4nv float8e4b8 float8e4b15 float8e5 float8e5b16 pi32_t",
    "Value types": "dtype pointer_type block_type tuple_type constexpr_type const tensor_descriptor_type tensor"
    " tensor_descriptor constexpr tuple TRITON_MAX_TENSOR_NUMEL",
    "Programs": "program_id num_programs",
    "Creation": "arange full zeros zeros_like cast to_tensor cat",
    "Shapes": "broadcast broadcast_to expand_dims permute trans reshape view ravel join split interleave squeeze"
    " unsqueeze item swizzle2d",
    "Selection": "where gather flip expect_zero",
    "Memory": "load store make_block_ptr advance",
    "Tensor descriptors": "make_tensor_descriptor load_tensor_descriptor store_tensor_descriptor",
    "Atomics": "atomic_add atomic_cas atomic_xchg atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_load"
    " atomic_store atomic_poll",
    "Reductions, scans, sorting": "reduce associative_scan sum max min argmax argmin xor_sum reduce_or softmax cumsum"
    " cumprod histogram sort topk bitonic_merge map_elementwise PropagateNan",
    "Matrix multiplication": "dot dot_scaled",
    "Mathematics": "exp exp2 log log2 sin cos sqrt sqrt_rn rsqrt abs floor ceil erf fma fdiv div_rn umulhi sigmoid cdiv"
    " maximum minimum clamp add sub mul",
    "Random numbers": "philox philox_impl randint randint4x rand rand4x randn randn4x uint_to_uniform_float"
    " pair_uniform_to_normal",
    "Hints and checks": "multiple_of max_contiguous max_constancy assume debug_barrier static_print static_assert"
    " device_print device_assert",
    "Inline assembly and external functions": "inline_asm_elementwise extern_elementwise",
    "Loops": "range static_range condition",
    "Aggregates": "aggregate_replace constexpr_function",
    "Modules": "math extra libdevice target_info",
}
_MATH = (
    "abs ceil clamp cos div_rn erf exp exp2 fdiv floor fma log log2 max maximum min minimum rsqrt sin sqrt sqrt_rn"
    " umulhi"
)
_TARGET_INFO = "current_target is_cuda cuda_capability_geq is_hip is_hip_cdna3 is_hip_cdna4 is_hip_gfx1250"
_CUDA = (
    "globaltimer smid num_threads num_warps gdc_wait gdc_launch_dependents convert_custom_float8_sm70"
    " convert_custom_float8_sm80"
)
_METHODS = "load store gather scatter atomic_add atomic_min atomic_max atomic_and atomic_or atomic_xor"
_SYNTAX = (
    "Return Assign AnnAssign AugAssign NamedExpr If IfExp While For With Pass Compare UnaryOp BinOp BoolOp Call Starred"
    " Attribute Subscript Slice Tuple List ListComp Constant JoinedStr Assert Expr Break Continue"
)
_OPERATORS = "Add Sub Mult Div FloorDiv Mod Pow LShift RShift BitAnd BitOr BitXor UAdd USub Invert Not And Or"
_COMPARISONS = "Eq NotEq Lt LtE Gt GtE Is IsNot"
_BUILTINS = "len list range float int bool isinstance getattr hasattr print min max"
_PACKAGE = (
    "jit constexpr_function autotune heuristics Config aggregate must_use_result JITFunction KernelInterface"
    " TensorWrapper reinterpret MockTensor AsyncCompileMode FutureKernel set_allocator compile cdiv next_power_of_2"
    " CompilationError OutOfResources"
    " InterpreterError TritonError language runtime testing tools ASTSource Autotuner Heuristics"
    " TritiumError check compiler driver install knobs"
)
_TESTING = (
    "do_bench do_bench_cudagraph do_bench_proton do_bench_cudagraph_proton assert_close Benchmark Mark perf_report"
    " get_dram_gbps get_max_tensorcore_tflops get_max_simd_tflops cuda_memcheck set_gpu_clock nvsmi"
)


def topics() -> list[Topic]:
    """All topics, in the order of the page."""
    return [
        Topic("Decorators, launches and modules", _below("tritium", _PACKAGE), (HOST,)),
        Topic("Options of `jit`", _below("jit", _JIT), (HOST,)),
        Topic("Options of `Config` and `autotune`", _below("Config", _CONFIG) + _below("autotune", _AUTOTUNE), (HOST,)),
        Topic("Attributes of a jitted function", _below("JITFunction", _FUNCTION), (HOST,)),
        Topic("Testing", _below("testing", _TESTING), (HOST,)),
        Topic("Types from strings", _below("tl", "void str_to_ty"), (HOST,)),
        *(Topic(title, _below("tl", names)) for title, names in _LANGUAGE.items()),
        Topic("Methods of descriptors", _below("descriptor", _METHODS)),
        Topic("`tl.math`", _below("tl.math", _MATH)),
        Topic("`tl.target_info`", _below("tl.target_info", _TARGET_INFO)),
        Topic("`tl.extra.cuda`", _below("tl.extra.cuda", _CUDA)),
        Topic("`tl.extra.libdevice`", tuple(f"libdevice.{name}" for name in sorted(library_names("cuda")))),
        Topic("Statements and expressions", _below("ast", _SYNTAX)),
        Topic("Operators", _below("ast", _OPERATORS) + _below("ast", _COMPARISONS)),
        Topic("Python built-ins", _below("builtins", _BUILTINS)),
    ]


_JIT = "repr launch_metadata do_not_specialize do_not_specialize_on_alignment debug noinline"
_CONFIG = "kwargs num_warps num_stages num_ctas maxnreg pre_hook ir_override"
_AUTOTUNE = (
    "key prune_configs_by reset_to_zero restore_value pre_hook post_hook warmup rep use_cuda_graph do_bench"
    " cache_results"
)
_FUNCTION = (
    "run warmup src cache_key params arg_names signature device_caches preload add_pre_run_hook create_binder ASTSource"
    " used_global_vals fn"
)


def all_names() -> set[str]:
    """Every name of the page."""
    return {name for topic in topics() for name in topic.names}


def objects() -> dict[int, list[str]]:
    """The identity of a function, type or module -> what kernels call it; more than one name may be the same."""
    found: dict[int, list[str]] = {}
    for prefix, module in (
        ("tl", tl),
        ("tl.math", tl.math),
        ("tl.target_info", tl.target_info),
        ("tl.extra.cuda", cuda),
        ("libdevice", libdevice),
    ):
        for name in sorted(_names_of(prefix, module)):
            thing = getattr(module, name.rpartition(".")[2], None)
            if thing is not None and not isinstance(thing, (int, str)):
                found.setdefault(id(thing), []).append(name)
    return found


def _names_of(prefix: str, module: ModuleType) -> set[str]:
    depth = prefix.count(".") + 1
    return {name for name in all_names() if name.startswith(prefix + ".") and name.count(".") == depth}


_NO_SUCH_GPU = "not on NVIDIA: a type of AMD's GPUs"
_GPU_ONLY = "code and registers of a GPU; elsewhere an error says so"
_NVIDIA_ONLY = "instructions of NVIDIA GPUs; elsewhere an error says so"

#: (name, target) -> why there is nothing to show.
REASONS: dict[tuple[str, str], str] = {
    ("tl.float8e4b8", "nvidia"): _NO_SUCH_GPU,
    ("tl.float8e5b16", "nvidia"): _NO_SUCH_GPU,
    ("tl.float8e4b15", "amd"): "not on AMD, as in Triton",
    **{(name, "amd"): _NVIDIA_ONLY for name in _below("tl.extra.cuda", _CUDA)},
    **{
        (f"tl.{name}", target): _GPU_ONLY
        for name in ("inline_asm_elementwise", "extern_elementwise")
        for target in ("cpu", "interpreter")
    },
    **{
        (f"tl.extra.cuda.{name}", target): _GPU_ONLY
        for name in ("smid", "globaltimer")
        for target in ("cpu", "interpreter")
    },
}

#: What is said above the table of a topic.
NOTES: dict[str, str] = {
    "Statements and expressions": "Classes of Python's `ast`; all else in Python gives an error that names it.",
}

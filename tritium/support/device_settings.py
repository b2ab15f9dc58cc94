"""Settings of the GPU backends and of the profiler; those of everything else, and the groups, are in `settings`."""

from __future__ import annotations

from .option_classes import HINT, INSTRUMENTATION, SEMANTIC
from .setting import Flag, Group, Integer, OptionalFlag, Text, UnsupportedFlag

__all__ = ["AmdSettings", "NvidiaSettings", "ProtonSettings"]


class NvidiaSettings(Group):
    """Tools of the NVIDIA backend."""

    cuobjdump = Text(None, "TRITON_CUOBJDUMP_PATH", doc="the program cuobjdump", kind=SEMANTIC)
    nvdisasm = Text(None, "TRITON_NVDISASM_PATH", doc="the program nvdisasm", kind=SEMANTIC)
    ptxas = Text(None, "TRITON_PTXAS_PATH", doc="the assembler ptxas", kind=SEMANTIC)
    ptxas_blackwell = Text(
        None,
        "TRITON_PTXAS_BLACKWELL_PATH",
        doc="no effect: one ptxas of CUDA 12.8 or newer assembles for all GPUs",
        kind=HINT,
    )
    mock_ptx_version = Text(
        None,
        "TRITON_MOCK_PTX_VERSION",
        doc="the release of CUDA, such as 12.4, whose version of PTX is written, in place of the assembler's",
        invalidates=True,
        kind=SEMANTIC,
    )
    disable_mma_v3 = Flag(
        False, "DISABLE_MMA_V3", doc='compile without wgmma (`without="wgmma"`)', invalidates=True, kind=SEMANTIC
    )
    without = Text(
        None,
        "TRITIUM_WITHOUT",
        doc="optimizations to compile every kernel without, with commas (as the option `without`)",
        invalidates=True,
        kind=SEMANTIC,
    )
    disable_mma_v5 = Flag(False, "DISABLE_MMA_V5", doc="no effect: dots do not use tcgen05", kind=HINT)
    allow_lhs_tmem_layout_conversion = Flag(
        False, "ALLOW_LHS_TMEM_LAYOUT_CONVERSION", doc="no effect: dots do not use tensor memory", kind=HINT
    )
    disable_ptxas_opt = Flag(
        False, "DISABLE_PTXAS_OPT", doc="have ptxas optimize nothing", invalidates=True, kind=SEMANTIC
    )
    ptxas_options = Text(None, "PTXAS_OPTIONS", doc="more options for ptxas", invalidates=True, kind=SEMANTIC)
    dump_ptxas_log = Flag(
        False, "TRITON_DUMP_PTXAS_LOG", doc="print what ptxas tells of each kernel", kind=INSTRUMENTATION
    )
    dump_nvptx = Flag(False, "NVPTX_ENABLE_DUMP", doc="print the assembly of NVIDIA kernels", kind=INSTRUMENTATION)
    libdevice_path = Text(None, "TRITON_LIBDEVICE_PATH", doc="the bitcode of NVIDIA's math functions", kind=SEMANTIC)
    libcuda_path = Text(None, "TRITON_LIBCUDA_PATH", doc="the folder of libcuda.so", kind=SEMANTIC)
    launch_blocking = Flag(
        False,
        "TRITIUM_LAUNCH_BLOCKING",
        "CUDA_LAUNCH_BLOCKING",
        doc="wait for every kernel after its launch, so that an error names the kernel it is of",
        kind=SEMANTIC,
    )


_LATER = "no effect: there is no such pass or scheduler here"
_REFUSED = "not supported: a compile for an AMD GPU is refused where it is set"


class AmdSettings(Group):
    """Choices of the AMD backend."""

    use_buffer_ops = Flag(
        True,
        "AMDGCN_USE_BUFFER_OPS",
        doc="no effect: there is no such pass or scheduler here",
        invalidates=True,
        kind=HINT,
    )
    use_buffer_atomics = Flag(True, "AMDGCN_USE_BUFFER_ATOMICS", doc=_LATER, kind=HINT)
    buffer_ops_analyze_small_tensor_range = Flag(False, "AMDGCN_ANALYZE_SMALL_TENSOR_RANGE", doc=_LATER, kind=HINT)
    scalarize_packed_fops = Flag(False, "AMDGCN_SCALARIZE_PACKED_FOPS", doc=_LATER, kind=HINT)
    use_block_pingpong = OptionalFlag(
        "TRITON_HIP_USE_BLOCK_PINGPONG",
        doc="alternate loads and matrix instructions of two waves of a SIMD (`amd-block-pingpong`); unset: on gfx942",
        kind=HINT,
    )
    use_in_thread_transpose = OptionalFlag("TRITON_HIP_USE_IN_THREAD_TRANSPOSE", doc=_LATER, kind=HINT)
    use_async_copy = OptionalFlag("TRITON_HIP_USE_ASYNC_COPY", doc=_LATER, kind=HINT)
    use_coexec_scheduler = OptionalFlag("TRITON_HIP_USE_COEXEC_SCHEDULER", doc=_LATER, kind=HINT)
    use_expert_scheduling = OptionalFlag("TRITON_HIP_USE_EXPERT_SCHEDULING", doc=_LATER, kind=HINT)
    dump_mir = Text(None, "TRITON_DUMP_MIR", doc=_REFUSED, kind=INSTRUMENTATION)
    swap_mir = Text(None, "TRITON_SWAP_MIR", doc=_REFUSED, kind=SEMANTIC)
    swap_mir_enable_misched = Flag(False, "TRITON_SWAP_MIR_ENABLE_MISCHED", doc=_LATER, kind=HINT)
    codegen_path = Text(None, "TRITON_AMD_CODEGEN_PATH", doc=_REFUSED, kind=SEMANTIC)
    dump_amdgcn = Flag(False, "AMDGCN_ENABLE_DUMP", doc="print the assembly to stderr", kind=INSTRUMENTATION)
    libhip_path = Text(None, "TRITON_LIBHIP_PATH", doc="the path of libamdhip64.so", kind=SEMANTIC)
    assembler_path = Text(
        None, "TRITIUM_AMD_ASSEMBLER", doc="the clang that assembles inline and edited assembly", kind=SEMANTIC
    )


_EVENTS = "no effect: kernels are timed by events in their streams, without CUPTI or ROCm's libraries"


class ProtonSettings(Group):
    """The profiler."""

    disable = Flag(False, "TRITON_PROTON_DISABLE", doc="do not profile", kind=SEMANTIC)
    cupti_lib_dir = Text(None, "TRITON_CUPTI_LIB_PATH", doc=_EVENTS, kind=HINT)
    cupti_lib_blackwell_dir = Text(None, "TRITON_CUPTI_LIB_BLACKWELL_PATH", doc=_EVENTS, kind=HINT)
    hsa_runtime_path = Text(None, "TRITON_HSA_RUNTIME_PATH", doc=_EVENTS, kind=HINT)
    hsa_runtime_library = Text(None, "TRITON_HSA_RUNTIME_LIBRARY", doc=_EVENTS, kind=HINT)
    rocprofiler_sdk_include_path = Text(None, "TRITON_ROCPROFILER_SDK_INCLUDE_PATH", doc=_EVENTS, kind=HINT)
    rocprofiler_sdk_lib_path = Text(None, "TRITON_ROCPROFILER_SDK_LIB_PATH", doc=_EVENTS, kind=HINT)
    rocprofiler_sdk_library = Text(None, "TRITON_ROCPROFILER_SDK_LIBRARY", doc=_EVENTS, kind=HINT)
    roctracer_lib_path = Text(None, "TRITON_ROCTRACER_LIB_PATH", doc=_EVENTS, kind=HINT)
    roctracer_library = Text(None, "TRITON_ROCTRACER_LIBRARY", doc=_EVENTS, kind=HINT)
    roctx_lib_path = Text(None, "TRITON_ROCTX_LIB_PATH", doc=_EVENTS, kind=HINT)
    roctx_library = Text("libroctx64.so", "TRITON_ROCTX_LIBRARY", doc=_EVENTS, kind=HINT)
    profile_buffer_size = Integer(64 << 20, "TRITON_PROFILE_BUFFER_SIZE", doc=_EVENTS, kind=HINT)
    profile_metric_buffer_size = Integer(64 << 20, "TRITON_PROFILE_METRIC_BUFFER_SIZE", doc=_EVENTS, kind=HINT)
    enable_nvtx = Flag(True, "TRITON_ENABLE_NVTX", doc=_EVENTS, kind=HINT)
    enable_hw_trace = UnsupportedFlag(
        False, "TRITON_ENABLE_HW_TRACE", doc="kernels are timed by events in their streams", kind=INSTRUMENTATION
    )

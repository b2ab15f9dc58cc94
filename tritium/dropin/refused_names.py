"""Names of Triton 3.9's modules that `import triton` does not have, with the reason for the error message, by
module."""

from __future__ import annotations

__all__ = ["REFUSED"]


def _each(names: str, why: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), why)


#: module -> name -> reason, and the replacement
REFUSED: dict[str, dict[str, str]] = {
    "triton._filecheck": {
        **_each("filecheck_path triton_dir", "files of Triton's own FileCheck program; the Python package is used"),
        "create_function_from_signature": "use triton.runtime.jit.create_function_from_signature",
    },
    "triton._internal_testing": {
        "backends": "use triton.backends.backends",
        "skip_if_unsupported_cluster_size": "clusters are options of a launch, which says what a GPU cannot do",
        **_each("ReplenishingProcessPool use_process_pool", "part of how Triton's own tests are run"),
    },
    "triton._utils": _each("k v", "variables of loops at the top of Triton's module"),
    "triton.language.extra": _each("module_name modules", "variables of a loop at the top of Triton's module"),
    "triton.profiler": {
        "configure_runtime": "no library of ROCm is loaded",
    },
    "triton.profiler.hooks.instrumentation": {
        **_each(
            "CudaAllocator NullAllocator VERSION register_instrumentation set_profile_allocator "
            "unregister_instrumentation",
            "kernels are not instrumented",
        ),
    },
    "triton.profiler.profile": {
        "getenv": "a function of Triton's compiled library; settings are in `triton.knobs`",
    },
    "triton.profiler.metric": {
        **_each(
            "FLOPS_DTYPES ROOFLINE_DTYPES scalar_metric_kernel tensor_metric_kernel",
            "tensors of a GPU are copied in its stream, without kernels; types are in ROOFLINE_TYPES",
        ),
    },
    "triton.profiler.proton": {
        **_each(
            "do_setup_and_execute execute_as_main is_pytest parse_arguments run_profiling",
            "parts of the command; `main` is the command",
        ),
    },
    "triton.profiler.scope": {
        "metadata_state": "use triton.profiler.state.metadata_state",
        "set_metric_kernels": "use triton.profiler.metric.set_metric_kernels",
    },
    "triton.profiler.viewer": {
        **_each(
            "FactorDict avg_cpu_time_factor_dict avg_time_factor_dict bytes_factor_dict "
            "cpu_time_factor_dict default_flop_factor_dict derivable_metrics time_factor_dict",
            "tables of the viewer; derived metrics are in `tritium.profiler.derived`",
        ),
    },
}

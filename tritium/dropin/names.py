"""Tables of Triton's names that our modules of the same path do not have.

Most of Triton's names have the same path here. These tables list the others by module: names that another module of
ours has (`ADDED`), and modules that Tritium does not have (`LEFT_OUT`), with the reason for the error message. The
remaining names of Triton 3.9's modules are listed with reasons in tests/dropin.
"""

from __future__ import annotations

import base64
from typing import Any

from ..frontend.callee import BoundCallee, ConstexprFunction, Parameter, SourceFunction
from ..runtime import driver
from ..support.hashing import sha256

__all__ = ["ADDED", "LEFT_OUT", "PLACES", "REACHED", "get_full_name", "make_so_cache_key", "max_shared_mem"]

TRITON_BUILTIN = "__tritium_builtin__"  # the attribute that marks functions of the language

#: Triton's modules with another path here
PLACES = {
    "triton._compile_warmup_state": "tritium.dropin.compile_warmup_state",
    "triton._filecheck": "tritium.dropin.filecheck",
    "triton._instrumentation": "tritium.dropin.instrumentation",
    "triton._internal_testing": "tritium.dropin.internal_testing",
    "triton._utils": "tritium.dropin.utils",
    "triton._C.libtriton.linear_layout": "tritium.tools.linear_layout",
    "triton.backends.amd.driver": "tritium.dropin.amd_driver",
    "triton.compiler.code_generator": "tritium.dropin.code_generator",
    "triton.compiler.compiler": "tritium.compiler",
    "triton.compiler.errors": "tritium.frontend.errors",
    "triton.errors": "tritium.support.errors",
    **{f"triton.experimental.gluon.{name}": "tritium.experimental.gluon" for name in ("_compiler", "_runtime")},
    **{
        f"triton.experimental.gluon.language.{name}": "tritium.experimental.gluon.language"
        for name in ("_core", "_layouts", "_math", "_semantic", "_standard")
    },
    "triton.experimental.gluon.amd.gfx1250": "tritium.experimental.gluon.amd.cdna5",
    "triton.experimental.gluon.language.amd._layouts": "tritium.experimental.gluon.language.amd",
    "triton.experimental.gluon.language.amd._ops": "tritium.experimental.gluon.language.amd.cdna5",
    "triton.experimental.gluon.language.amd.cdna5._layouts": "tritium.experimental.gluon.language.amd.cdna5",
    "triton.experimental.gluon.language.amd.gfx1250": "tritium.experimental.gluon.language.amd.cdna5",
    "triton.experimental.gluon.language.amd.slice": "tritium.experimental.gluon.language.amd",
    "triton.experimental.gluon.language.amd.warp_pipeline": "tritium.experimental.gluon.language.amd",
    "triton.language.extra.cuda.gdc": "tritium.language.extra.cuda",
    "triton.language.extra.cuda.utils": "tritium.language.extra.cuda",
    "triton.language.extra.hip.utils": "tritium.language.extra.hip.utils",
    "triton.language.semantic": "tritium.frontend.semantics",
    "triton.runtime._allocation": "tritium.runtime.allocation",
    "triton.runtime._async_compile": "tritium.runtime.async_compile",
}

#: modules that are attributes after `import triton`, and are imported lazily here
REACHED = frozenset(f"triton.{name}" for name in (
    "_C.libtriton", "_C.libtriton.linear_layout", "_utils", "backends.amd", "backends.amd.compiler",
    "backends.amd.driver", "backends.nvidia", "backends.nvidia.compiler", "backends.nvidia.driver",
    "compiler.code_generator",
    "compiler.compiler", "compiler.errors", "errors", "language.extra.cuda.gdc", "language.extra.cuda.utils",
    "language.semantic", "runtime.autotuner", "runtime.build", "runtime.cache",
    "runtime.driver", "runtime.errors", "runtime.interpreter", "runtime.jit", "tools.disasm",
    "experimental.gluon.language._core", "experimental.gluon.language._layouts",
    "experimental.gluon.language._math", "experimental.gluon.language._semantic",
    "experimental.gluon.language._standard",
))  # fmt: skip

_HERE = f"{__name__}:"
_CALLABLES = {
    "BoundConstexprFunction": f"{_HERE}ConstexprFunction",  # a bound one has an instance
    "ConstexprFunction": f"{_HERE}ConstexprFunction",
    "JITCallable": f"{_HERE}SourceFunction",
    "JITFunction": "tritium.runtime.jit:JITFunction",
    "get_full_name": f"{_HERE}get_full_name",
}
_ERRORS = {
    name: f"tritium.frontend.errors:{name}"
    for name in ("CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct")
}
_UTILITIES = {
    name: f"tritium.dropin.utils:{name}"
    for name in (
        "apply_with_path",
        "canonicalize_dtype",
        "find_paths_if",
        "get_iterable_path",
        "get_primitive_bitwidth",
    )
}
_UTILITIES |= {name: f"tritium.dropin.utils:{name}" for name in ("is_namedtuple", "validate_block_shape", "warn_once")}
_DECORATORS = {"jit": "tritium.runtime.jit:jit", "constexpr_function": "tritium.frontend.callee:constexpr_function"}
_TRITON_ERROR = {"TritonError": "tritium.support:TritiumError"}
_ENVIRONMENT = {"get_cache_invalidating_env_vars": "tritium.support.settings:invalidating_environment"}
_MANAGERS = {
    name: f"tritium.compiler.cache_managers:{name}"
    for name in ("get_cache_manager", "get_dump_manager", "get_override_manager")
}
_DRIVER_BASE = {"DriverBase": "tritium.backends.driver:DriverBase"}
_SHARED = {"max_shared_mem": f"{_HERE}max_shared_mem", "CompilationError": _ERRORS["CompilationError"]}
_TUNING = {n: f"tritium.runtime.autotuner:{n}" for n in ("Autotuner", "Config", "Heuristics", "autotune", "heuristics")}
_COMBINE = {
    name: f"tritium.frontend.language.standard:{ours}"
    for name, ours in (
        ("_argmax_combine_tie_break_left", "_argmax_left"),
        ("_argmax_combine_tie_break_fast", "_argmax_fast"),
        ("_argmin_combine_tie_break_left", "_argmin_left"),
        ("_argmin_combine_tie_break_fast", "_argmin_fast"),
        ("_elementwise_max", "_elementwise_max"),
        ("_elementwise_min", "_elementwise_min"),
        ("_sum_combine", "_sum_combine"),
        ("_xor_combine", "_xor_combine"),
        ("_or_combine", "_or_combine"),
        ("_prod_combine", "_product_combine"),
    )
}
_LANGUAGE = {"_get_int_dtype": "tritium.language.core:get_int_dtype"}
_LANGUAGE |= {name: f"tritium.language:{name}" for name in ("squeeze", "unsqueeze")}


def _from(module: str, names: str) -> dict[str, str]:
    """Names of a module that are the same here."""
    return {name: f"{module}:{name}" for name in names.split()}


_BACKEND = _from("tritium.backends.compiler", "BaseBackend GPUTarget Language")
_BACKEND |= _from("tritium.dropin.nvidia_compiler", "is_enabled")
_BINDINGS = {name: f"tritium._C.libtriton.{name}:" for name in ("ir", "llvm", "nvidia", "passes")}
_DRIVER_HELPERS = {
    "GPUTarget": _BACKEND["GPUTarget"],
    **_from("tritium.backends.driver", "GPUDriver decompose_descriptor expand_signature wrap_handle_tensordesc_impl"),
    "compile_module_from_src": "tritium.runtime.build:compile_module_from_src",
}
_NVIDIA_COMPILER = (
    "file_hash get_features get_llvm_flags get_ptx_version_from_options get_ptxas get_ptxas_version ptx_get_version"
)
_NVIDIA_DRIVER = (
    "ARG_CONSTEXPR ARG_KERNEL ARG_TUPLE CudaDriver CudaLauncher CudaUtils GSAN_PER_DEVICE_STATE_STRIDE PyCUtensorMap "
    "PyKernelArg TMA_DTYPE_DEVICE_TO_HOST TMA_TF32 annotate_arguments dirname include_dirs libcuda_dirs libdevice_dir "
    "libraries library_dirs make_kernel_signature make_launcher make_tensordesc_arg ty_to_cpp wrap_handle_tensordesc"
)
_COMPILER = (
    "AsmDict CompileTimer arg_type_pattern convert_type_repr filter_traceback parse prototype_pattern "
    "ptx_arg_type_pattern ptx_prototype_pattern"
)
_AMD_COMPILER = (
    "assemble_amdgcn compile_amdgpu file_hash get_amd_codegen_path get_amd_codegen_revision "
    "get_amd_codegen_target_triple get_llvm_flags get_min_dot_size is_async_copy_enabled is_coexec_scheduler_enabled "
    "is_consan_supported is_expert_scheduling_enabled is_fpsan_supported is_in_thread_transpose_enabled "
    "is_pingpong_schedule_enabled"
)

_FLAGS = {"flags": "tritium.profiler.flags:flags"}
_LAZY = {"LazyDict": "tritium.compiler:LazyDict"}
_METADATA_STATE = {"metadata_state": "tritium.profiler.state:metadata_state"}
_METRIC_KERNELS = {"set_metric_kernels": "tritium.profiler.metric:set_metric_kernels"}

#: Triton's module -> name -> "module:name" here
ADDED: dict[str, dict[str, str]] = {
    "triton.backends": {
        **_DRIVER_BASE,
        "Backend": "tritium.dropin.backends:Backend",
        "BaseBackend": "tritium.backends.compiler:BaseBackend",
    },
    "triton.backends.amd.compiler": {**_BACKEND, **_from("tritium.dropin.amd_compiler", _AMD_COMPILER)},
    "triton.backends.amd.driver": _DRIVER_HELPERS,
    "triton.backends.nvidia.compiler": {
        **_BACKEND,
        "PTXASError": "tritium.backends.errors:PTXASError",
        **_BINDINGS,
        **_from("tritium.dropin.nvidia_compiler", _NVIDIA_COMPILER),
    },
    "triton.backends.nvidia.driver": {
        **_DRIVER_HELPERS,
        "is_enabled": _BACKEND["is_enabled"],
        "compile_module_from_file": "tritium.runtime.build:compile_module_from_file",
        **_from("tritium.dropin.nvidia_driver", _NVIDIA_DRIVER),
    },
    "triton.backends.driver": {
        "find_paths_if": _UTILITIES["find_paths_if"],
        "make_tensordesc_args": "tritium._C.libtriton:make_tensordesc_args",
    },
    "triton.compiler": _SHARED,
    "triton.compiler.code_generator": {
        **_CALLABLES,
        **_ERRORS,
        **{n: _UTILITIES[n] for n in ("apply_with_path", "is_namedtuple")},
        "BoundJITMethod": f"{_HERE}BoundCallee",
        "constexpr": "tritium.language:constexpr",
        "str_to_ty": "tritium.language:str_to_ty",
        "tensor": "tritium.language:tensor",
        "tl_tuple": "tritium.language:tuple",
        "_unwrap_if_constexpr": "tritium.language.core:_unwrap_if_constexpr",
    },
    "triton.compiler.compiler": {
        **_ENVIRONMENT,
        **_MANAGERS,
        **_SHARED,
        **_from("tritium.dropin.compiler", _COMPILER),
        "Language": "tritium.backends.compiler:Language",
        "OutOfResources": "tritium.runtime.errors:OutOfResources",
        "driver": "tritium.runtime.driver:driver",
        "get_sass": "tritium.tools.disasm:get_sass",
    },
    "triton.compiler.errors": _TRITON_ERROR,
    "triton.errors": _TRITON_ERROR,
    **{
        f"triton.experimental.gluon.language.{name}": {
            "_unwrap_if_constexpr": "tritium.language.core:_unwrap_if_constexpr",
            "builtin": "tritium.language.core:builtin",
            "constexpr_type": "tritium.language.core:constexpr_type",
            **({"warps_per_cta": "tritium.frontend.gluon.layouts:warps_per_cta"} if name == "_layouts" else {}),
        }
        for name in (
            "_core",
            "_layouts",
            "nvidia.ampere",
            "nvidia.hopper",
            "nvidia.blackwell",
            "amd.cdna3",
            "amd.cdna4",
        )
    },
    "triton.experimental.gluon.language._semantic": {
        "GluonSemantic": "tritium.frontend.gluon.semantic:GluonSemantic",
        "TritonSemantic": "tritium.frontend.semantics:Semantic",
    },
    "triton.knobs": {
        **_from("tritium.dropin.utils", "FP_FUSION_DEFAULT_WARNING warn_once"),
        **_from("tritium._C.libtriton", "getenv getenv_bool"),
    },
    "triton.language.core": {
        **_from("tritium.dropin.utils", "CAT_CAN_REORDER_WARNING RESHAPE_CAN_REORDER_WARNING"),
        "JITCallable": _CALLABLES["JITCallable"],
        "TRITON_BUILTIN": f"{_HERE}TRITON_BUILTIN",
        "TRITON_MAX_TENSOR_NUMEL": "tritium.dropin.utils:TRITON_MAX_TENSOR_NUMEL",
        "builtin_max": "builtins:max",
        "builtin_min": "builtins:min",
        "extern": "tritium.language.core:builtin",  # library functions are builtins like others
        "get_primitive_bitwidth": _UTILITIES["get_primitive_bitwidth"],
        "must_use_result": "tritium.frontend.callee:must_use_result",
        "validate_block_shape": _UTILITIES["validate_block_shape"],
        "warn_once": _UTILITIES["warn_once"],
    },
    "triton.language.random": {"jit": _DECORATORS["jit"]},
    "triton.language.semantic": {
        "IncompatibleTypeErrorImpl": "tritium.frontend.semantics.errors:IncompatibleTypes",
        "TritonSemantic": "tritium.frontend.semantics:Semantic",
        "driver": "tritium.runtime.driver:driver",
    },
    "triton.language.standard": {**_DECORATORS, **_LANGUAGE, **_COMBINE},
    "triton.language.target_info": {
        "constexpr_function": _DECORATORS["constexpr_function"],
        "driver": "tritium.runtime.driver:driver",
    },
    "triton.profiler.data": _FLAGS,
    "triton.profiler.hooks.hook": _LAZY,
    "triton.profiler.hooks.instrumentation": {**_LAZY, **_FLAGS, **_METADATA_STATE},
    "triton.profiler.hooks.launch": {**_LAZY, **_METRIC_KERNELS},
    "triton.profiler.language": {
        **_FLAGS,
        "GluonSemantic": "tritium.frontend.gluon.semantic:GluonSemantic",
        "TritonSemantic": "tritium.frontend.semantics:Semantic",
    },
    "triton.profiler.metric": {"driver": "tritium.runtime.driver:driver", "MockTensor": "tritium:MockTensor"},
    "triton.runtime": _TUNING,
    "triton.runtime.autotuner": {
        **_ENVIRONMENT,
        "get_cache_manager": _MANAGERS["get_cache_manager"],
        "triton_key": "tritium.compiler:triton_key",
    },
    "triton.runtime.cache": {
        **_from(__name__, "make_so_cache_key"),
        "_base32": f"{_HERE}base32",
        "get_cache_key": "tritium.dropin.compiler:get_cache_key",
    },
    "triton.runtime.driver": {**_DRIVER_BASE, "backends": "tritium.dropin.backends:known_backends"},
    "triton.runtime.errors": _TRITON_ERROR,
    "triton.runtime.interpreter": {
        "KernelInterface": "tritium.runtime.jit:KernelInterface",
        "TensorDescriptor": "tritium.runtime.tensor_descriptor:TensorDescriptor",
        "TritonSemantic": "tritium.frontend.semantics:Semantic",
    },
    "triton.runtime.jit": {
        **_ENVIRONMENT,
        **{n: _UTILITIES[n] for n in ("find_paths_if", "get_iterable_path", "is_namedtuple")},
        "BaseBackend": "tritium.backends.compiler:BaseBackend",
        "get_cache_key": "tritium.dropin.compiler:get_cache_key",
        "get_full_name": _CALLABLES["get_full_name"],
        "native_specialize_impl": "tritium.runtime.jit_parts:native_specialize_impl",
    },
    "triton._C.libtriton": {
        "native_specialize_impl": "tritium.runtime.jit_parts:native_specialize_impl",
    },
    "triton.tools.link": {"LinkerError": "tritium.tools.aot.interface:AotError"},
    "triton.tools.tensor_descriptor": {n: _UTILITIES[n] for n in ("canonicalize_dtype", "validate_block_shape")},
}

_MODULES = {
    "core": "tritium.language.core:",
    "ir": _BINDINGS["ir"],
    "knobs": "tritium.knobs:",
    "language": "tritium.language:",
    "runtime": "tritium.runtime:",
    "tl": "tritium.language:",
}
#: Triton's module -> modules that it imports under these names, which programs reach through it
_IMPORTED = {
    "triton.backends.nvidia.compiler": "knobs",
    "triton.backends.nvidia.driver": "knobs",
    "triton.compiler.code_generator": "ir knobs language",
    "triton.compiler.compiler": "ir knobs",
    "triton.language.core": "ir knobs",
    "triton.language.extra.cuda.gdc": "core",
    "triton.language.extra.cuda.libdevice": "core",
    "triton.language.extra.cuda.utils": "core",
    "triton.language.extra.hip.libdevice": "core",
    "triton.language.extra.hip.utils": "core",
    "triton.language.math": "core",
    "triton.language.random": "tl",
    "triton.language.semantic": "ir tl",
    "triton.language.standard": "core",
    "triton.runtime.autotuner": "knobs",
    "triton.runtime.build": "knobs",
    "triton.runtime.cache": "knobs",
    "triton.runtime.jit": "ir knobs",
    "triton.testing": "runtime tl",
}
for _module, _names in _IMPORTED.items():
    ADDED[_module] = {**{_name: _MODULES[_name] for _name in _names.split()}, **ADDED.get(_module, {})}

#: modules that cannot be imported, with the reason for the error
LEFT_OUT = {
    "triton._compile_warmup": "it is part of how Triton's own tests are run; kernel.warmup(...) only compiles",
    "triton._compile_warmup_pool": "it is part of how Triton's own tests are run",
    "triton._test_runner": "it is part of how Triton's own tests are run",
    "triton.compiler.make_launcher": "launchers are no C modules here, see docs/launching.md",
    "triton.experimental.gsan": "the sanitizer of races between GPUs is not there",
    "triton.ops": "Triton gave it up in 3.1; its kernels live in third-party packages",
    "triton.plugins": "extensions in C++; extensions here are modules of Python, see docs/plugins.md",
    "triton.profiler._rocm": "no library of ROCm is loaded",
    "triton.tools.gsan": "the sanitizer of races between GPUs is not there",
}


def get_full_name(fn: Any) -> str:
    """Module and qualified name of a Python function."""
    return f"{fn.__module__}.{fn.__qualname__}"


def max_shared_mem(device: Any) -> int:
    """The maximum shared memory of a program on a device, in bytes."""
    return int(driver.active.utils.get_device_properties(device)["max_shared_mem"])


def make_so_cache_key(version_hash: str, signature: Any, constants: Any, ids: Any, **kwargs: Any) -> str:
    """The name of a launcher in C for a signature, in which pointers are all alike."""
    types = "".join("ptr" if ty.startswith("*") else ty for ty in signature.values())
    text = "-".join(map(str, (version_hash, types, constants, ids, *kwargs.values())))
    return base32(sha256(text.encode()).hexdigest())


def base32(key: str) -> str:
    """A hash in hexadecimal digits, as the name of a folder."""
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


_ = BoundCallee, ConstexprFunction, Parameter, SourceFunction  # named in the tables as of this module

"""The calls of LLVM that code for GPUs is made by, straight to llvmlite's library.

llvmlite's Python package takes 25 ms to import, most of it for building IR and for running code, which nothing here
does; loading its library takes 6. `load` gives an object with the part of the package's interface (`llvmlite.binding`)
that is used, under the same names; where a release of llvmlite is not known to have these entries, or its library is
not where it should be, it gives the package itself.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_size_t, c_void_p
from typing import Any

__all__ = ["load", "release_is_known"]

RELEASES = ("0.50.",)  # of llvmlite, whose entries have been compared with what stands here

_TEXT = POINTER(c_char_p)  # where a text or an error is left, to be freed by LLVMPY_DisposeString

# Entry -> what it gives, what it takes. Everything of LLVM's is an address.
_ENTRIES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "GetVersionInfo": (ctypes.c_uint, ()),
    "InitializeAllTargetInfos": (None, ()),
    "InitializeAllTargets": (None, ()),
    "InitializeAllTargetMCs": (None, ()),
    "InitializeAllAsmPrinters": (None, ()),
    "SetCommandLine": (None, (c_char_p, c_char_p)),
    "DisposeString": (None, (c_char_p,)),
    "ContextCreate": (c_void_p, ()),
    "ContextDispose": (None, (c_void_p,)),
    "ParseAssembly": (c_void_p, (c_void_p, c_char_p, _TEXT)),
    "ParseBitcode": (c_void_p, (c_void_p, c_char_p, c_size_t, _TEXT)),
    "WriteBitcodeToString": (None, (c_void_p, _TEXT, POINTER(c_size_t))),
    "PrintModuleToString": (None, (c_void_p, _TEXT)),
    "DisposeModule": (None, (c_void_p,)),
    "VerifyModule": (c_bool, (c_void_p, _TEXT)),
    "GetTarget": (None, (c_void_p, _TEXT)),
    "SetTarget": (None, (c_void_p, c_char_p)),
    "GetDataLayout": (None, (c_void_p, _TEXT)),
    "SetDataLayout": (None, (c_void_p, c_char_p)),
    "LinkModules": (c_int, (c_void_p, c_void_p, _TEXT)),
    "ModuleFunctionsIter": (c_void_p, (c_void_p,)),
    "FunctionsIterNext": (c_void_p, (c_void_p,)),
    "DisposeFunctionsIter": (None, (c_void_p,)),
    "GetNamedFunction": (c_void_p, (c_void_p, c_char_p)),
    "GetValueName": (c_char_p, (c_void_p,)),
    "IsDeclaration": (c_int, (c_void_p,)),
    "SetLinkage": (None, (c_void_p, c_int)),
    "GetTargetFromTriple": (c_void_p, (c_char_p, _TEXT)),
    "CreateTargetMachine": (
        c_void_p,
        (c_void_p, c_char_p, c_char_p, c_char_p, c_int, c_char_p, c_char_p, c_int, c_int, c_char_p),
    ),
    "DisposeTargetMachine": (None, (c_void_p,)),
    "CreateTargetMachineData": (c_void_p, (c_void_p,)),
    "CopyStringRepOfTargetData": (None, (c_void_p, _TEXT)),
    "DisposeTargetData": (None, (c_void_p,)),
    "TargetMachineEmitToMemory": (c_void_p, (c_void_p, c_void_p, c_int, _TEXT)),
    "GetBufferStart": (c_void_p, (c_void_p,)),
    "GetBufferSize": (c_size_t, (c_void_p,)),
    "DisposeMemoryBuffer": (None, (c_void_p,)),
    "CreatePipelineTuningOptions": (c_void_p, ()),
    "PTOSetLoopInterleaving": (None, (c_void_p, c_bool)),
    "PTOSetLoopUnrolling": (None, (c_void_p, c_bool)),
    "PTOSetInlinerThreshold": (None, (c_void_p, c_int)),
    "PTOSetLoopVectorization": (None, (c_void_p, c_bool)),
    "PTOSetSLPVectorization": (None, (c_void_p, c_bool)),
    "DisposePipelineTuningOptions": (None, (c_void_p,)),
    "CreatePassBuilder": (c_void_p, (c_void_p, c_void_p)),
    "DisposePassBuilder": (None, (c_void_p,)),
    "buildPerModuleDefaultPipeline": (c_void_p, (c_void_p, c_int)),
    "CreateNewModulePassManager": (c_void_p, ()),
    "module_AddGlobalDCEPass": (None, (c_void_p,)),
    "RunNewModulePassManager": (None, (c_void_p, c_void_p, c_void_p)),
    "buildFunctionSimplificationPipeline": (c_void_p, (c_void_p, c_int)),
    "RunNewFunctionPassManager": (None, (c_void_p, c_void_p, c_void_p)),
    "DisposeNewFunctionPassManger": (None, (c_void_p,)),
    "DisposeNewModulePassManger": (None, (c_void_p,)),
    "CreateTimePassesHandler": (c_void_p, ()),
    "EnableTimePasses": (None, (c_void_p, c_void_p)),
    "ReportAndDisableTimePasses": (None, (c_void_p, _TEXT)),
    "DisposeTimePassesHandler": (None, (c_void_p,)),
}
INTERNAL = 8  # the linkage, in LLVM's C interface


def load() -> Any:
    """The interface of `llvmlite.binding`: direct calls of its library, or the package itself."""
    folder = _folder()
    name = "libllvmlite.dylib" if sys.platform == "darwin" else "libllvmlite.so"
    path = os.path.join(folder, "binding", name)
    if "llvmlite.binding" in sys.modules or os.name != "posix" or not release_is_known():
        return importlib.import_module("llvmlite.binding")
    try:
        return LLVM(ctypes.CDLL(path))
    except (OSError, AttributeError):
        return importlib.import_module("llvmlite.binding")


@functools.cache
def release_is_known() -> bool:
    """Whether what is known here of llvmlite's library holds for the release that is installed."""
    return _release(_folder()).startswith(RELEASES)


def _folder() -> str:
    """llvmlite's own."""
    spec = importlib.util.find_spec("llvmlite")
    return os.path.dirname((spec.origin if spec else None) or "")


def _release(folder: str) -> str:
    """The version in llvmlite's `_version.py`."""
    try:
        with open(os.path.join(folder, "_version.py"), encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return ""
    _, found, rest = text.partition("version_version = '")
    return rest.partition("'")[0] if found else ""


class _Object:
    """An address of LLVM's, which is freed by the entry `freed_by` when nothing refers to it any more."""

    freed_by = ""

    def __init__(self, capi: Any, address: int | None) -> None:
        self._capi, self._ptr, self._owned = capi, address, False
        self._as_parameter_ = address

    def _dispose(self) -> None:
        if self.freed_by:
            getattr(self._capi, self.freed_by)(self._ptr)

    def close(self) -> None:
        """Free it now."""
        if self._ptr is not None and not self._owned:
            self._dispose()
        self._ptr = self._as_parameter_ = None

    def detach(self) -> None:
        """Somebody else frees it."""
        self._ptr = self._as_parameter_ = None

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():  # the process frees everything; modules may be gone
            self.close()

    def _text(self, entry: str, *arguments: Any) -> str:
        """The text of an entry."""
        with _Text(self._capi) as text:
            getattr(self._capi, entry)(*arguments, text.out)
            return text.value


class _Text:
    """A text that LLVM leaves; freed at the end of the block. One that LLVM still owns (`owned=False`) is not."""

    def __init__(self, capi: Any, owned: bool = True) -> None:
        self.capi, self.owned, self.pointer = capi, owned, c_char_p(None)
        self.out = byref(self.pointer)

    def __enter__(self) -> _Text:
        return self

    def __exit__(self, *_: object) -> None:
        if self.owned and self.pointer:
            self.capi.LLVMPY_DisposeString(self.pointer)

    @property
    def value(self) -> str:
        """The text; empty where none was left."""
        return (self.pointer.value or b"").decode("utf-8", "replace")


class _Context(_Object):
    freed_by = "LLVMPY_ContextDispose"


class _Function:
    """A function of a module."""

    def __init__(self, capi: Any, address: int) -> None:
        self._capi, self._address = capi, address

    @property
    def name(self) -> str:
        """Its symbol."""
        return (self._capi.LLVMPY_GetValueName(self._address) or b"").decode()

    @property
    def is_declaration(self) -> bool:
        """Whether it has no body."""
        return bool(self._capi.LLVMPY_IsDeclaration(self._address))

    def _set_linkage(self, linkage: str) -> None:
        if linkage != "internal":
            raise ValueError(f"only the linkage internal is set here, not {linkage}")
        self._capi.LLVMPY_SetLinkage(self._address, INTERNAL)

    linkage = property(None, _set_linkage)


class _Module(_Object):
    freed_by = "LLVMPY_DisposeModule"

    def __init__(self, capi: Any, address: int | None, context: Any) -> None:
        super().__init__(capi, address)
        self._context = context

    def __str__(self) -> str:
        return self._text("LLVMPY_PrintModuleToString", self._ptr)

    def verify(self) -> None:
        """RuntimeError with LLVM's message for a module that is malformed."""
        with _Text(self._capi) as text:
            if self._capi.LLVMPY_VerifyModule(self._ptr, text.out):
                raise RuntimeError(text.value)

    def _get(self, entry: str) -> str:
        with _Text(self._capi, owned=False) as text:
            getattr(self._capi, entry)(self._ptr, text.out)
            return text.value

    triple = property(
        lambda self: self._get("LLVMPY_GetTarget"),
        lambda self, text: self._capi.LLVMPY_SetTarget(self._ptr, text.encode()),
    )
    data_layout = property(
        lambda self: self._get("LLVMPY_GetDataLayout"),
        lambda self, text: self._capi.LLVMPY_SetDataLayout(self._ptr, text.encode()),
    )

    def link_in(self, other: _Module) -> None:
        """Link another module, which ends with it; RuntimeError where the two do not fit."""
        with _Text(self._capi) as text:
            failed = self._capi.LLVMPY_LinkModules(self._ptr, other._ptr, text.out)
            other.detach()
            if failed:
                raise RuntimeError(text.value)

    @property
    def functions(self) -> Iterator[_Function]:
        """All functions, declarations too."""
        entries = self._capi.LLVMPY_ModuleFunctionsIter(self._ptr)
        try:
            while address := self._capi.LLVMPY_FunctionsIterNext(entries):
                yield _Function(self._capi, address)
        finally:
            self._capi.LLVMPY_DisposeFunctionsIter(entries)

    def get_function(self, name: str) -> _Function:
        """The function of that name; NameError if there is none."""
        address = self._capi.LLVMPY_GetNamedFunction(self._ptr, name.encode())
        if not address:
            raise NameError(name)
        return _Function(self._capi, address)

    def as_bitcode(self) -> bytes:
        """The module as bitcode."""
        with _Text(self._capi) as text:
            size = c_size_t(0)
            self._capi.LLVMPY_WriteBitcodeToString(self._ptr, text.out, byref(size))
            return ctypes.string_at(text.pointer, size.value)


class _TargetMachine(_Object):
    freed_by = "LLVMPY_DisposeTargetMachine"

    @property
    def target_data(self) -> str:
        """The data layout of modules for it."""
        data = self._capi.LLVMPY_CreateTargetMachineData(self._ptr)
        try:
            return self._text("LLVMPY_CopyStringRepOfTargetData", data)
        finally:
            self._capi.LLVMPY_DisposeTargetData(data)

    def _emit_to_memory(self, module: _Module, use_object: bool = False) -> bytes:
        with _Text(self._capi) as text:
            buffer = self._capi.LLVMPY_TargetMachineEmitToMemory(self._ptr, module._ptr, int(use_object), text.out)
            if not buffer:
                raise RuntimeError(text.value)
        try:
            start, size = self._capi.LLVMPY_GetBufferStart(buffer), self._capi.LLVMPY_GetBufferSize(buffer)
            return ctypes.string_at(start, size)
        finally:
            self._capi.LLVMPY_DisposeMemoryBuffer(buffer)


class _Target:
    def __init__(self, capi: Any, address: int, triple: str) -> None:
        self._capi, self._address, self._triple = capi, address, triple

    def create_target_machine(self, cpu: str, features: str, opt: int, reloc: str, codemodel: str) -> _TargetMachine:
        """The machine of a processor; RuntimeError where LLVM makes none."""
        texts = [t.encode() for t in (self._triple, cpu, features, reloc, codemodel)]
        address = self._capi.LLVMPY_CreateTargetMachine(self._address, *texts[:3], opt, *texts[3:], 0, 0, b"")
        if not address:
            raise RuntimeError("Cannot create target machine")
        return _TargetMachine(self._capi, address)


class _Tuning(_Object):
    freed_by = "LLVMPY_DisposePipelineTuningOptions"

    def __init__(self, capi: Any, speed_level: int) -> None:
        super().__init__(capi, capi.LLVMPY_CreatePipelineTuningOptions())
        self.speed_level = speed_level

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _TUNED:
            getattr(self._capi, _TUNED[name])(self._ptr, value)
        elif name == "speed_level" or name.startswith("_"):
            super().__setattr__(name, value)
        else:
            raise AttributeError(f"pipelines have no option {name!r} here")


_TUNED = {
    "inlining_threshold": "LLVMPY_PTOSetInlinerThreshold",
    "loop_interleaving": "LLVMPY_PTOSetLoopInterleaving",
    "loop_unrolling": "LLVMPY_PTOSetLoopUnrolling",
    "loop_vectorization": "LLVMPY_PTOSetLoopVectorization",
    "slp_vectorization": "LLVMPY_PTOSetSLPVectorization",
}


class _PassManager(_Object):
    freed_by = "LLVMPY_DisposeNewModulePassManger"

    def add_global_dead_code_eliminate_pass(self) -> None:
        """globaldce"""
        self._capi.LLVMPY_module_AddGlobalDCEPass(self._ptr)

    def run(self, module: _Module, builder: _PassBuilder) -> None:
        """Run on a module."""
        self._capi.LLVMPY_RunNewModulePassManager(self._ptr, module._ptr, builder._ptr)


class _FunctionPassManager(_Object):
    freed_by = "LLVMPY_DisposeNewFunctionPassManger"

    def run(self, fun: _Function, builder: _PassBuilder) -> None:
        """Run on a function."""
        self._capi.LLVMPY_RunNewFunctionPassManager(self._ptr, fun._address, builder._ptr)


class _Timing(_Object):
    freed_by = "LLVMPY_DisposeTimePassesHandler"


class _PassBuilder(_Object):
    freed_by = "LLVMPY_DisposePassBuilder"

    def __init__(self, capi: Any, machine: Any, tuning: _Tuning) -> None:
        super().__init__(capi, capi.LLVMPY_CreatePassBuilder(None if machine is None else machine._ptr, tuning._ptr))
        self._machine, self._tuning, self._timing = machine, tuning, _Timing(capi, None)

    def getModulePassManager(self) -> _PassManager:
        """The pipeline of the level."""
        made = self._capi.LLVMPY_buildPerModuleDefaultPipeline(self._ptr, self._tuning.speed_level)
        return _PassManager(self._capi, made)

    def getFunctionPassManager(self) -> _FunctionPassManager:
        """The part of the pipeline that simplifies a function."""
        made = self._capi.LLVMPY_buildFunctionSimplificationPipeline(self._ptr, self._tuning.speed_level)
        return _FunctionPassManager(self._capi, made)

    def start_pass_timing(self) -> None:
        """Measure what passes take."""
        self._timing = _Timing(self._capi, self._capi.LLVMPY_CreateTimePassesHandler())
        self._capi.LLVMPY_EnableTimePasses(self._ptr, self._timing._ptr)

    def finish_pass_timing(self) -> str:
        """What they took."""
        return self._text("LLVMPY_ReportAndDisableTimePasses", self._timing._ptr)


class LLVM:
    """The functions of `llvmlite.binding` that are used. AttributeError where the library lacks an entry."""

    def __init__(self, capi: Any) -> None:
        self._capi = capi
        for name, (gives, takes) in _ENTRIES.items():
            entry = getattr(capi, f"LLVMPY_{name}")
            entry.restype, entry.argtypes = gives, takes
        version = capi.LLVMPY_GetVersionInfo()
        self.llvm_version_info = tuple(version >> shift & 255 for shift in (16, 8, 0))
        self.Target = self

    def initialize_all_targets(self) -> None:
        """Know every target."""
        for name in ("TargetInfos", "Targets", "TargetMCs"):
            getattr(self._capi, f"LLVMPY_InitializeAll{name}")()

    def initialize_all_asmprinters(self) -> None:
        """And its assembly."""
        self._capi.LLVMPY_InitializeAllAsmPrinters()

    def set_option(self, name: str, option: str) -> None:
        """An option of LLVM's command line, for the process; LLVM ends the process if it is set twice."""
        self._capi.LLVMPY_SetCommandLine(name.encode(), option.encode())

    def create_context(self) -> _Context:
        """A context of its own."""
        return _Context(self._capi, self._capi.LLVMPY_ContextCreate())

    def parse_assembly(self, text: str, context: Any) -> _Module:
        """The module of LLVM text; RuntimeError with LLVM's message."""
        return self._parsed("LLVM IR", context, self._capi.LLVMPY_ParseAssembly, text.encode())

    def parse_bitcode(self, bitcode: bytes, context: Any) -> _Module:
        """The module of bitcode; RuntimeError with LLVM's message."""
        return self._parsed("LLVM bitcode", context, self._capi.LLVMPY_ParseBitcode, bitcode, len(bitcode))

    def _parsed(self, kind: str, context: Any, entry: Any, *data: Any) -> _Module:
        with _Text(self._capi) as text:
            address = entry(context._ptr, *data, text.out)
            if text.pointer or not address:
                _Module(self._capi, address or None, context).close()
                raise RuntimeError(f"{kind} parsing error\n{text.value}")
        return _Module(self._capi, address, context)

    def from_triple(self, triple: str) -> _Target:
        """The target of a triple; RuntimeError where there is none."""
        with _Text(self._capi) as text:
            address = self._capi.LLVMPY_GetTargetFromTriple(triple.encode(), text.out)
            if not address:
                raise RuntimeError(text.value)
        return _Target(self._capi, address, triple)

    def create_pipeline_tuning_options(self, speed_level: int = 2) -> _Tuning:
        """Options of a pipeline, whose level is 0 to 3."""
        return _Tuning(self._capi, speed_level)

    def create_pass_builder(self, machine: Any, tuning: _Tuning) -> _PassBuilder:
        """A pass builder, with or without a target machine's cost model."""
        return _PassBuilder(self._capi, machine, tuning)

    def create_new_module_pass_manager(self) -> _PassManager:
        """A pipeline without passes."""
        return _PassManager(self._capi, self._capi.LLVMPY_CreateNewModulePassManager())

"""Triton's linker as functions: kernels read from `// tt-linker:` lines of headers, and the C of their dispatchers.

    // tt-linker-backend: cuda
    // tt-linker: add_1a2b3c4d_0d1d:CUdeviceptr x, int32_t n:64_warps1xstages3

`tritium link` does not go through them: it reads the directives of `tritium compile`'s headers (`link`). Programs that
write linkers of their own, for headers of Triton's form, do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import Template

from ...support.dataclasses import dataclass
from .interface import AotError

__all__ = [
    "HeaderParser",
    "KernelLinkerMeta",
    "gen_signature",
    "gen_signature_with_full_args",
    "make_algo_decls",
    "make_default_algo_kernel",
    "make_func_pointers",
    "make_get_num_algos_decl",
    "make_get_num_algos_def",
    "make_global_decl",
    "make_kernel_hints_dispatcher",
    "make_kernel_load_def",
    "make_kernel_meta_const_dispatcher",
]

_KERNEL = re.compile(r"//\s*tt-linker:\s*(\w+):(.+):(.+)")
_BACKEND = re.compile(r"//\s*tt-linker-backend:\s*(\w+)")
_VALUES = {"c": 1, "d": 16}


@dataclass
class KernelLinkerMeta:
    """A compiled variant of a kernel: the parameters of its C function with their hints (1, 16 or None), and the parts
    of its name, `<orig_kernel_name>_<sig_hash>_<suffix>`. `num_specs` parameters have a hint."""

    orig_kernel_name: str
    arg_names: Sequence[str]
    arg_ctypes: Sequence[str]
    sizes: Sequence[int | None]
    sig_hash: str
    triton_suffix: str
    suffix: str
    num_specs: int

    @property
    def function(self) -> str:
        """The name of the variant's C function."""
        return f"{self.orig_kernel_name}_{self.sig_hash}_{self.suffix}"


class HeaderParser:
    """Collects the kernels that headers declare: `kernels` maps a kernel and its algorithm to the variants."""

    def __init__(self) -> None:
        self.kernels: dict[str, list[KernelLinkerMeta]] = {}
        self.backend_name: str | None = None

    def extract_linker_meta(self, header: str) -> None:
        """Read the directives in the text of a header. AotError for those that are none, or do not fit the others."""
        for line in header.splitlines():
            if found := _KERNEL.match(line):
                self._add(*found.groups())
            elif found := _BACKEND.match(line):
                if self.backend_name not in (None, found[1]):
                    raise AotError(f"headers for {self.backend_name} and for {found[1]} cannot be linked together")
                self.backend_name = found[1]

    def _add(self, function: str, signature: str, algorithm: str) -> None:
        parts = function.rsplit("_", 2)
        if len(parts) < 3 or not all(parts[:2]):
            raise AotError(f"{function} is not a valid kernel name: it is NAME_HASH_SUFFIX")
        name, sig_hash, suffix = parts
        declared = [text.split() for text in signature.split(",")]
        if not all(len(words) == 2 for words in declared):
            raise AotError(f"{signature} is not a valid argument signature: it is TYPE NAME, TYPE NAME, …")
        types, names = [t for t, _ in declared], [n for _, n in declared]
        sizes = _hints(suffix, len(names))
        count = sum(size is not None for size in sizes)
        made = KernelLinkerMeta(name, names, types, sizes, sig_hash, suffix, suffix, count)
        family = self.kernels.setdefault(f"{name}_{algorithm}", [])
        if family and list(family[-1].arg_ctypes) != types:
            raise AotError(
                f"Mismatched signature for kernel {name}_{algorithm}: {', '.join(family[-1].arg_ctypes)} and "
                f"{', '.join(types)}"
            )
        family.append(made)


def _hints(suffix: str, count: int) -> list[int | None]:
    """The hint of each of `count` parameters: a suffix has their numbers in order, each with c, d or nothing.

    >>> _hints("0d12c", 3), _hints("", 1)
    ([16, None, 1], [None])
    """
    sizes: list[int | None] = [None] * count
    for number in range(count):
        if not suffix.startswith(str(number)):
            continue
        suffix = suffix.removeprefix(str(number))
        if suffix[:1] in _VALUES and suffix:
            sizes[number], suffix = _VALUES[suffix[0]], suffix[1:]
    if suffix:
        raise AotError(f"Has invalid extra suffix: {suffix}")
    return sizes


def gen_signature_with_full_args(m: KernelLinkerMeta) -> str:
    """All parameters of a kernel with their types."""
    return ", ".join(map(" ".join, zip(m.arg_ctypes, m.arg_names)))


def gen_signature(m: KernelLinkerMeta) -> str:
    """The parameters of a variant's function: those whose hint is 1 are compiled in."""
    rows = zip(m.arg_ctypes, m.arg_names, m.sizes)
    return ", ".join(f"{ty} {name}" for ty, name, hint in rows if hint != 1)


def _text(template: str, meta: KernelLinkerMeta, name: str = "") -> str:
    taken = f"TT_StreamTy stream, {gen_signature_with_full_args(meta)}"
    passed = ", ".join(["stream", *meta.arg_names])
    base = name or meta.orig_kernel_name
    return Template(template).substitute(base=base, kernel=meta.orig_kernel_name, taken=taken, passed=passed)


def make_algo_decls(name: str, metas: Sequence[KernelLinkerMeta]) -> str:
    """Declarations of the functions of one algorithm."""
    return _text("TT_ResultTy $base($taken);\nvoid load_$base();\nvoid unload_$base();\n", metas[-1], name)


def make_global_decl(meta: KernelLinkerMeta) -> str:
    """Declarations of the functions of a kernel, which take the number of an algorithm or the first one."""
    return _text(
        "TT_ResultTy ${base}_default($taken);\nTT_ResultTy $base($taken, int algo_id);\n"
        "void load_$base();\nvoid unload_$base();\n",
        meta,
    )


def make_default_algo_kernel(meta: KernelLinkerMeta) -> str:
    """The function that launches by the first algorithm."""
    return _text("TT_ResultTy ${base}_default($taken) {\n  return $base($passed, 0);\n}\n", meta)


def make_kernel_meta_const_dispatcher(meta: KernelLinkerMeta) -> str:
    """The function that launches by the number of an algorithm."""
    return _text(
        "TT_ResultTy $base($taken, int algo_id) {\n"
        "  if (algo_id < 0 || algo_id >= ${base}_get_num_algos()) return TT_ERROR_INVALID_VALUE;\n"
        "  return ${base}_kernels[algo_id]($passed);\n}\n",
        meta,
    )


def make_get_num_algos_decl(meta: KernelLinkerMeta) -> str:
    """The declaration of the function that counts algorithms."""
    return _text("int ${base}_get_num_algos(void);", meta)


def make_get_num_algos_def(meta: KernelLinkerMeta) -> str:
    """The function that counts algorithms."""
    body = "{\n  return (int)(sizeof ${base}_kernels / sizeof *${base}_kernels);\n}\n"
    return _text(f"int ${{base}}_get_num_algos(void) {body}", meta)


def make_func_pointers(names: Sequence[str], meta: KernelLinkerMeta) -> str:
    """The table of algorithms."""
    rows = "".join(f"  {name},\n" for name in names)
    return _text(
        f"typedef TT_ResultTy (*kernel_func_t)($taken);\nkernel_func_t ${{base}}_kernels[] = {{\n{rows}}};\n", meta
    )


def make_kernel_load_def(names: Sequence[str], meta: KernelLinkerMeta) -> str:
    """The functions that load and unload all algorithms."""
    return "".join(
        f"void {verb}_{meta.orig_kernel_name}(void) {{\n" + "".join(f"  {verb}_{name}();\n" for name in names) + "}\n\n"
        for verb in ("load", "unload")
    )


def make_kernel_hints_dispatcher(name: str, metas: Sequence[KernelLinkerMeta]) -> str:
    """The functions of one algorithm: launch the variant with most hints whose hints hold; load and unload all."""
    ordered = sorted(metas, key=lambda m: -m.num_specs)
    declared = [f"TT_ResultTy {m.function}(TT_StreamTy stream, {gen_signature(m)});\n" for m in ordered]
    calls = [f"  if ({_condition(m)}) return {m.function}({_passed(m)});\n" for m in ordered]
    body = [_text("TT_ResultTy $base($taken) {\n", metas[-1], name), *calls, "  return TT_ERROR_INVALID_VALUE;\n}\n"]
    loads = []
    for verb in ("load", "unload"):
        loads += [f"void {verb}_{m.function}();\n" for m in ordered]
        loads += [f"void {verb}_{name}() {{\n", *(f"  {verb}_{m.function}();\n" for m in ordered), "}\n"]
    return f"/* {name} */\n" + "".join([*declared, *body, *loads])


def _passed(m: KernelLinkerMeta) -> str:
    return ", ".join(["stream", *(name for name, hint in zip(m.arg_names, m.sizes) if hint != 1)])


def _condition(m: KernelLinkerMeta) -> str:
    """When the hints of a variant hold, in C."""
    tests = [
        f"{name} == 1" if hint == 1 else f"(uintptr_t){name} % {hint} == 0"
        for name, hint in zip(m.arg_names, m.sizes)
        if hint is not None
    ]
    return " && ".join(tests) or "1"

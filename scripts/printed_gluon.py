"""Print each kernel of examples/ in Gluon, compile it again, and compare the code.

    python -m scripts.printed_gluon [--tutorials CHECKOUT] [--only TEXT] [--keep FOLDER]

The kernels are those of `scripts.generated_code` for GPUs, with `--tutorials` also those of Triton's published
tutorials. A kernel that cannot be printed, does not compile again or needs another size of shared memory is named, and
the exit status is 1; kernels whose PTX has other numbers of instructions are named, too. Needs no GPU and no ptxas.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from scripts.generated_code import work
from tests.conformance.tutorial_registers import configurations, examples
from tests.conformance.tutorials import source_of
from tests.example_kernels import load
from tritium.backends.errors import BackendError
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.compiler.gluon_source import GluonASTSource
from tritium.dialects.tt_types import TensorDescType
from tritium.frontend.gluon.layouts import layout_of
from tritium.ir import DictionaryAttr, IntegerAttr, functions_of, parse_module
from tritium.support import TritiumError, settings
from tritium.tools.gluon.layouts import TYPES
from tritium.tools.gluon.operations import EXPRESSIONS, STATEMENTS
from tritium.tools.gluon.printer import print_kernel

__all__ = ["compare", "instructions", "main"]

_NAMES = {"f16": "fp16", "f32": "fp32", "f64": "fp64", "f8E5M2": "fp8e5", "f8E4M3FN": "fp8e4nv"}
_NAMES |= {name: name.replace("ui", "u") for name in TYPES if name.startswith("ui")}
_INSTRUCTION = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)", re.MULTILINE)


def instructions(ptx: str) -> Counter[str]:
    """How many of each instruction a text has."""
    return Counter(_INSTRUCTION.findall(ptx))


def compare(row: tuple[str, int, str], tutorials: Path | None, keep: Path) -> str | None:
    """ "same" for a kernel of `work`, else what differs or failed; None for one that does not compile."""
    kind, index, name = row
    target = GPUTarget("cuda", int(name[-2:]), 32)
    with tempfile.TemporaryDirectory() as folder, settings.cache.scope():
        settings.cache.dir = folder
        try:
            source, options = _source(kind, index, tutorials, Path(folder))
            kernel = compile(source, target=target, options=options, until="ptx")
        except (TritiumError, BackendError):
            return None
        try:
            path = keep / (re.sub(r"\W", "_", name) + ".py")
            again = compile(*_printed(kernel, path, target), until="ptx")
        except (TritiumError, BackendError) as error:
            return f"failed: {str(error).strip().splitlines()[0]}"
    if again.metadata.shared != kernel.metadata.shared:
        return f"failed: {again.metadata.shared} bytes of shared memory for {kernel.metadata.shared}"
    before, after = instructions(kernel.asm["ptx"]), instructions(again.asm["ptx"])
    changed = [f"{n} {before[n]} -> {after[n]}" for n in sorted(before | after) if before[n] != after[n]]
    return f"differs: {', '.join(changed)}" if changed else "same"


def _source(kind: str, index: int, tutorials: Path | None, folder: Path) -> tuple[Any, Any]:
    if kind == "example":
        case = examples()[index]
        return ASTSource(
            getattr(load(case.example), case.kernel), case.signature, case.constants, case.attrs
        ), case.options
    one = configurations()[index]
    assert tutorials is not None
    return source_of(one.case, tutorials, folder)[0], one.case.options


def _printed(kernel: Any, path: Path, target: GPUTarget) -> tuple[Any, GPUTarget, dict[str, Any]]:
    """The arguments of `compile` for a printed kernel."""
    text = str(kernel.asm["ttgir"])
    module = parse_module(text)
    path.write_text(print_kernel(module, EXPRESSIONS, STATEMENTS), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    function = getattr(made, kernel.name)
    signature, attributes = _signature(functions_of(module)[0], function.arg_names)
    options: dict[str, Any] = {}
    for option, name in (("num_warps", "ttg.num-warps"), ("num_ctas", "ttg.num-ctas"), ("maxnreg", "ttg.maxnreg")):
        if isinstance(found := module.attributes.get(name), IntegerAttr):
            options[option] = found.value
    return GluonASTSource(function, signature, {}, attributes), target, options


def _signature(func: Any, names: list[str]) -> tuple[dict[str, str], dict[tuple[int, ...], Any]]:
    """Types and divisibility of the parameters; shape and strides of a descriptor are none of their own."""
    signature: dict[str, str] = {}
    attributes: dict[tuple[int, ...], Any] = {}
    rows = func.arg_attrs.elements if func.arg_attrs is not None else [DictionaryAttr({})] * len(func.entry.args)
    pairs = iter(zip(func.entry.args, rows))
    for i, name in enumerate(names):
        argument, row = next(pairs)
        if isinstance(argument.type, TensorDescType):
            block = argument.type.block
            shape = list(block.shape)
            signature[name] = f"tensordesc<{_type_name(block.element)}{shape},{layout_of(block.encoding, shape)!r}>"
            for _ in range(2 * len(shape)):
                next(pairs)
        else:
            signature[name] = _type_name(argument.type)
            if row.get("tt.divisibility") is not None:
                attributes[(i,)] = [["tt.divisibility", 16]]
    return signature, attributes


def _type_name(ty: object) -> str:
    text = str(ty)
    pointee = text.removeprefix("!tt.ptr<").rstrip(">")
    return "*" * (pointee != text) + _NAMES.get(pointee, pointee)


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 where a kernel is not printed, or not compiled again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutorials", type=Path, help="a checkout of Triton, whose python/tutorials are printed, too")
    parser.add_argument("--only", default="", help="rows that contain this text")
    parser.add_argument("--keep", type=Path, help="a folder for the printed kernels")
    chosen = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        keep = chosen.keep or Path(folder)
        keep.mkdir(parents=True, exist_ok=True)
        for row in work(chosen.tutorials, chosen.only):
            found = None if row[2].endswith("cpu") else compare(row, chosen.tutorials, keep)
            if found is not None:
                counts[found.partition(":")[0]] += 1
            if found not in (None, "same"):
                print(f"{row[2]}: {found}", flush=True)
    print(f"{counts.total()} kernels, {', '.join(f'{n} {what}' for what, n in counts.items())}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())

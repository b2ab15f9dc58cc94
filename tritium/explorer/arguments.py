"""The arguments of a launch, kept in a file beside the kernel, and those made of a signature."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import cast

import numpy as np

from ..backends.compiler import BaseBackend
from ..compiler import ASTSource, CompiledKernel
from ..interpreter.evaluator import TensorDesc
from ..runtime.arrays import is_array
from ..runtime.tensor_descriptor import TensorDescriptor
from ..support.dataclasses import asdict
from ..tools.check.inputs import arguments_of
from ..tools.check.launch import Arguments
from ..tools.request import value_of
from ..tools.signature import read_signature
from .json_types import Record

__all__ = [
    "apart",
    "describe_arguments",
    "evaluated",
    "given_options",
    "keep_arguments",
    "kept_arguments",
    "made_arguments",
    "request_of",
    "signature_of",
]

DERIVED = ("arch", "ptx_version", "host_maps", "launch_versions", "warp_size")
GUARD_BYTES, ALIGNMENT = 1 << 16, 128
MAX_BYTES = 64 << 20
"""Of the arrays that are kept; the arguments of larger launches are made up."""


def describe_arguments(values: Mapping[str, object]) -> list[dict[str, str]]:
    """The arguments in words: `float32[4096]`, `1000`."""
    return [{"name": name, "value": _words(value)} for name, value in values.items()]


def _words(value: object) -> str:
    if is_array(value) and hasattr(value, "shape"):
        dtype = str(getattr(value, "dtype", "")).removeprefix("torch.")
        return f"{dtype}[{'x'.join(str(n) for n in value.shape)}]"
    if isinstance(value, TensorDescriptor):
        return f"descriptor of {_words(value.base)}, blocks {'x'.join(map(str, value.block_shape))}"
    return str(value)[:80]


def signature_of(src: ASTSource) -> str:
    """A signature as on a command line, by name: `x=*fp32:16, n=i32, BLOCK=64`; empty where there is none.

    Compile-time values that are no literals cannot be written so.
    """
    names = list(src.signature)
    out = []
    for i, (name, ty) in enumerate(src.signature.items()):
        value = src.constants.get((i,))
        if (i,) in src.constants:
            text = repr(getattr(value, "value", value))
            if isinstance(value_of(text), str) and not isinstance(value, str):
                return ""
            out.append(f"{name}={text}")
        elif not isinstance(ty, str):
            return ""
        else:
            hint = dict(map(tuple, src.attrs.get((i,), ()))).get("tt.divisibility")
            out.append(f"{name}={ty}" + (f":{hint}" if hint else ""))
    return ", ".join(out) if names else ""


def request_of(kernel: CompiledKernel) -> Record:
    """How a kernel can be compiled again, without its options: file, kernel, signature."""
    src = kernel.src
    code = src.fn.fn.__code__ if hasattr(getattr(src, "fn", None), "fn") else None
    file = code.co_filename if code is not None else str(getattr(src, "path", ""))
    name = src.fn.__name__ if code is not None else ""
    signature = signature_of(src) if code is not None else ""
    return {"file": file, "kernel": name, "signature": signature}


def given_options(backend: BaseBackend, known: Mapping[str, object]) -> Record:
    """The options that differ from the defaults of a target; others than numbers and texts are left out.

    Those that a launch derives from the machine are left out as well.
    """
    defaults = asdict(backend.parse_options({}))
    return {
        name: value
        for name in backend.option_names()
        if name not in DERIVED
        and (value := known.get(name)) != defaults.get(name)
        and isinstance(value, (bool, int, float, str))
    }


def keep_arguments(folder: str, kernel: CompiledKernel, values: Mapping[str, object]) -> Record:
    """Keep the arguments of a launch, if they are arrays and numbers of moderate size; the request of the kernel."""
    src = kernel.src
    request = request_of(kernel)
    about: Record = {"signature": request["signature"], "names": [], "scalars": {}, "arrays": {}, "descriptors": {}}
    arrays: dict[str, np.ndarray] = {}
    bases = [v.base if isinstance(v, TensorDescriptor) else v for v in values.values()]
    size = sum(int(getattr(v, "nbytes", 0)) for v in bases if is_array(v))
    try:
        if size <= MAX_BYTES:  # a copy of larger ones would take longer than the launch
            arguments = Arguments(dict(src.signature), [values.get(name) for name in src.signature])
            _collect(arguments, src.signature, about, arrays)
        else:
            about["problem"] = f"{size:,} bytes of arrays are too many to keep"
    except Exception as error:  # arguments of any kind
        about["problem"] = str(error)
        arrays.clear()
    base = os.path.join(folder, f"{kernel.hash}.arguments")
    if arrays:
        with open(base + ".npz", "wb") as file:
            cast(Callable[..., None], np.savez)(file, **arrays)
    with open(base + ".json", "w", encoding="utf-8") as file2:
        json.dump(about, file2, default=str)
    return request


def _collect(
    arguments: Arguments, signature: Mapping[str, object], about: Record, arrays: dict[str, np.ndarray]
) -> None:
    regions = arguments.fresh()
    for (name, ty), value in zip(signature.items(), arguments.values):
        array = arguments.arrays.get(id(value))
        if ty == "constexpr":
            continue
        about["names"].append(name)
        if isinstance(value, TensorDescriptor):
            array = arguments.arrays[id(value.base)]
            arrays[name] = np.ascontiguousarray(array.of(regions[array.region]))
            names = ("shape", "strides", "block_shape", "padding")
            about["descriptors"][name] = {each: getattr(value, each) for each in names}
        elif array is not None:
            arrays[name] = np.ascontiguousarray(array.of(regions[array.region]))
            about["arrays"][name] = array.element
        elif isinstance(value, (bool, int, float)):
            about["scalars"][name] = value
        else:
            arrays.clear()
            about["problem"] = f"{name} is neither an array nor a number"
            return


def kept_arguments(folder: str, key: str) -> tuple[str, Record | None]:
    """The signature of a kernel that a script launched, and the arguments of its first launch, if they were kept."""
    base = os.path.join(folder, f"{key}.arguments")
    if not key.isalnum() or not os.path.isfile(base + ".json"):
        return "", None
    with open(base + ".json", encoding="utf-8") as file:
        about = json.load(file)
    if not os.path.isfile(base + ".npz"):
        return about["signature"], None
    with np.load(base + ".npz", allow_pickle=False) as found:
        values = {name: np.array(found[name]) for name in found.files}
    described = {
        name: TensorDescriptor(apart(values[name].reshape(given["shape"])), **given)
        for name, given in about["descriptors"].items()
    }
    known = {**about["scalars"], **values, **described}
    return about["signature"], {name: known[name] for name in about["names"]}


def apart(array: np.ndarray) -> np.ndarray:
    """A copy with free memory around it, so that an access next to it does not meet another array."""
    raw = np.empty(array.nbytes + 2 * GUARD_BYTES, np.uint8)
    start = GUARD_BYTES - raw.ctypes.data % ALIGNMENT
    own = raw.data[start : start + array.nbytes]  # not a view of `raw`: all of that would count as the array
    copy = np.frombuffer(own, array.dtype).reshape(array.shape) if array.size else np.array(array)
    copy[...] = array
    return copy


def evaluated(value: object) -> object:
    """A copy of an argument as the evaluator takes it: an array apart from others, a descriptor of one, a number."""
    if isinstance(value, TensorDescriptor):
        return TensorDesc(apart(np.asarray(value.base)), tuple(value.shape), tuple(value.strides), value.padding)
    return apart(value) if isinstance(value, np.ndarray) else value


def made_arguments(signature: Mapping[str, str], given: Mapping[str, object], size: int = 50) -> Record:
    """Random arrays and numbers for the types (with hints, `*fp32:16`) of run-time parameters, by name."""
    text = ", ".join(f"{name}={ty}" for name, ty in signature.items())
    entries = read_signature(text, list(signature))
    return dict(zip(entries, arguments_of(entries, given, size)))

"""Run a kernel on several targets, on the same inputs and poisoned outputs, and say where results differ.

Parameters say by their names what they are: `x_f32` an input of small multiples of a quarter, `r_f32` one of any
numbers, `s_f32` one with NaN, infinities, zeros and subnormals; `o3_f32` an output, `a3_i32` one that atomic operations
change; `h3s5x16w32b4x16_f32` a descriptor (`described`); `n`, `m` integers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import tritium
import tritium.language as tl
from tritium.backends.errors import OutOfResources
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.runtime.emulated_hip import EmulatedHIPDriver
from tritium.tools.tensor_descriptor import TensorDescriptor

from . import reference
from .elements import TYPES, Element, bits_of, values_of
from .writer import SIZE, steps_of

__all__ = ["Mismatch", "Unsupported", "arrays_of", "check", "difference", "run_on"]

GUARD = 64
"""Elements around each array that no kernel may touch."""
POISON = 0x5A
NEWER = re.compile(
    r"not supported in this architecture|needs sm_\d+|needs hardware|requires NVIDIA SM\d+"
    r"|num_ctas > 1 not supported on gfx|input_precision must be one of .* Got tf32"
)
"""What a refusal says that is right: other GPUs can do it. Any other refusal of a drawn kernel is a failure."""
LANGUAGE = {e.name: getattr(tl, e.tl.removeprefix("tl.")) for e in TYPES.values()}


class Mismatch(AssertionError):
    """Two targets disagree."""


class Unsupported(Exception):
    """A target does not have what a kernel asks for: a type of newer GPUs, more shared memory than there is."""


def element_of(name: str) -> Element:
    """The type of an array's elements, by the name of its parameter."""
    return TYPES[name.rsplit("_", 1)[1]]


def inputs(kind: str, e: Element, rng: np.random.Generator) -> np.ndarray:
    """SIZE elements."""
    if e.kind == "b":
        return rng.integers(0, 2, SIZE).astype(np.bool_)
    if e.kind in "iu":
        info = np.iinfo(e.storage)
        small = rng.integers(-4 if e.kind == "i" else 0, 9, SIZE)
        large = rng.integers(info.min, info.max, SIZE, dtype=e.storage, endpoint=True)
        return np.where(rng.random(SIZE) < 0.5, small.astype(e.storage), large)
    if kind == "r":
        return bits_of(np.clip(rng.standard_normal(SIZE) * 2, -8, 8), e)
    values = rng.integers(-16, 17, SIZE) / 4
    if kind == "s":
        tiny = 2.0 ** -{"f16": 20, "bf16": 130, "f32": 140, "f64": 1060}[e.name]
        special = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, tiny, -tiny, 1e4], SIZE)
        values = np.where(rng.random(SIZE) < 0.4, special, values)
    return bits_of(values, e)


def padded(count: int, e: Element) -> np.ndarray:
    """Room for so many elements and the guards around them, poisoned, at a multiple of 64 bytes."""
    size = (count + 2 * GUARD) * e.storage.itemsize
    raw = np.full(size + 64, POISON, np.uint8)
    return raw[-raw.ctypes.data % 64 :][:size]


def arrays_of(names: Sequence[str], outputs: Mapping[str, int], seed: int) -> dict[str, np.ndarray]:
    """The bytes of each array with its guards, by parameter."""
    made = {}
    for name in names:
        if "_" not in name:
            continue
        e, kind = element_of(name), name[0]
        whole = padded(outputs.get(name, SIZE), e)
        if kind != "o":
            count = len(whole) // e.storage.itemsize - 2 * GUARD
            rng = np.random.default_rng([seed, *name.encode()])
            values = inputs("x" if kind in "ah" else kind, e, rng)
            inside(whole, e)[...] = np.resize(values, count)
        made[name] = whole
    return made


def inside(whole: np.ndarray, e: Element) -> np.ndarray:
    """The elements between the guards."""
    return whole.view(e.storage)[GUARD:-GUARD]


# -- targets -----------------------------------------------------------------------------------------------------------


@contextmanager
def target(name: str) -> Iterator[None]:
    """Launches go there."""
    kept = tritium.knobs.runtime.interpret
    tritium.knobs.runtime.interpret = name == "interpreter"
    if name.startswith("emulated"):
        gpu = name.split(":")[1]
        driver.set_active(EmulatedHIPDriver(gpu) if gpu.startswith("gfx") else EmulatedCUDADriver(int(gpu)))
    try:
        yield
    finally:
        tritium.knobs.runtime.interpret = kept
        if name.startswith("emulated"):
            driver.reset_active()


def run_on(
    name: str,
    kernel: Any,
    grid: tuple[int, ...],
    scalars: Mapping[str, int],
    arrays: Mapping[str, np.ndarray],
    options: Mapping,
) -> dict[str, np.ndarray]:
    """The bytes of all arrays after a launch on a target. Unsupported where it cannot be."""
    found = {k: padded(len(v) // element_of(k).storage.itemsize - 2 * GUARD, element_of(k)) for k, v in arrays.items()}
    for k, v in arrays.items():
        found[k][...] = v
    if name == "numpy":
        try:
            reference.run(Path(kernel.fn.__code__.co_filename).read_text(), grid, scalars, found)
        except reference.Uncovered as e:
            raise Unsupported(str(e)) from None
        return found
    passed, copies = on_gpu(found) if name == "cuda" else on_host(found)
    passed = {k: described(k, v) if k[0] == "h" else v for k, v in passed.items()}
    try:
        with target(name):
            kernel[grid](**{p: passed[p] if p in passed else scalars[p] for p in kernel.arg_names}, **options)
    except OutOfResources as e:
        raise Unsupported(str(e)) from None
    except Exception as e:
        if NEWER.search(str(e)):
            raise Unsupported(str(e)) from None
        raise
    for k, copy in copies.items():
        found[k] = copy.cpu().numpy()
    return found


DESCRIBED = re.compile(r"h\d+s([\dx]+)w(\d+)b([\dx]+)(n?)_")


def described(name: str, array: Any) -> TensorDescriptor:
    """The descriptor of an array by the name of its parameter: s and its sizes, w and how far rows lie apart, b and the
    block, n where NaN is around it."""
    found = DESCRIBED.match(name)
    assert found is not None, name
    sizes, block = ([int(n) for n in found[i].split("x")] for i in (1, 3))
    return TensorDescriptor(array, sizes, steps_of(sizes, int(found[2])), block, "nan" if found[4] else "zero")


def wrapped(array: Any, e: Element) -> Any:
    return tritium.reinterpret(array, LANGUAGE[e.name])


def on_host(arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, Any], dict[str, Any]]:
    """NumPy's arrays."""
    passed = {}
    for name, whole in arrays.items():
        e = element_of(name)
        array = inside(whole, e)
        passed[name] = wrapped(array, e) if e.kind == "f" and array.dtype.kind != "f" else array
    return passed, {}


def on_gpu(arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, Any], dict[str, Any]]:
    """torch's tensors on the GPU."""
    import torch  # only where there is a GPU

    passed, copies = {}, {}
    for name, whole in arrays.items():
        e = element_of(name)
        copies[name] = torch.from_numpy(whole).cuda()
        size = e.storage.itemsize
        array = copies[name][GUARD * size : -GUARD * size]
        array = array.view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size])
        passed[name] = wrapped(array, e)
    return passed, copies


# -- comparing ---------------------------------------------------------------------------------------------------------


def difference(a: np.ndarray, b: np.ndarray, name: str, tolerance: float) -> str | None:
    """Where the bytes of two results differ by more than they may; None where they do not.

    NaN is NaN whatever its bits, and zeros may have either sign: those of minimum and maximum are not defined.
    """
    if np.array_equal(a, b):
        return None
    e = element_of(name)
    x, y = a.view(e.storage), b.view(e.storage)
    different = a.view(f"u{e.storage.itemsize}") != b.view(f"u{e.storage.itemsize}")
    if e.kind == "f":
        u, v = values_of(x, e), values_of(y, e)
        with np.errstate(all="ignore"):
            same = (u == v) | (np.isnan(u) & np.isnan(v)) | (np.abs(u - v) <= tolerance)
        outside = np.ones(len(x), bool)
        outside[GUARD:-GUARD] = False
        different &= ~same | outside
        x, y = u, v
    at = np.flatnonzero(different)
    if not len(at):
        return None
    where = at[:4] - GUARD
    return f"{name}: {len(at)} of {len(x) - 2 * GUARD} elements, at {list(map(int, where))}: {x[at[:4]]} and {y[at[:4]]}, tolerance {tolerance:g}"


def check(
    kernel: Any,
    grid: tuple[int, ...] = (1,),
    scalars: Mapping[str, int] | None = None,
    outputs: Mapping[str, int] | None = None,
    tolerances: Mapping[str, float] | None = None,
    seed: int = 0,
    targets: Sequence[str] = ("interpreter", "cpu"),
    **options: Any,
) -> list[str]:
    """Raise Mismatch where a target's results are not those of the first one; the targets that were compared.

    `outputs` says how many elements an output has, `tolerances` how far elements of an output may be apart.
    """
    arrays = arrays_of(kernel.arg_names, outputs or {}, seed)
    wanted, compared = None, []
    for name in targets:
        try:
            found = run_on(name, kernel, grid, scalars or {}, arrays, options)
        except Unsupported:
            continue
        compared.append(name)
        if wanted is None:
            wanted, first = found, name
            continue
        for k in arrays:
            wrong = difference(wanted[k], found[k], k, (tolerances or {}).get(k, 0.0))
            if wrong:
                raise Mismatch(f"{first} and {name}: {wrong}")
    return compared


def environment(folder: str) -> None:
    """Compiled kernels are kept nowhere but in this folder."""
    os.environ["TRITIUM_CACHE_DIR"] = folder

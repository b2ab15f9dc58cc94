"""Static analysis of a kernel for AMD GPUs: resources, occupancy, instructions by unit, and the listing by lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ...hardware.amd_occupancy import Occupancy, occupancy
from ...support.dataclasses import dataclass
from ...support.lazy import LazyMethod
from ...support.patterns import pattern
from ...support.plain import plain
from ..errors import stage_of
from ..findings import Finding
from ..listing import Coded, calls_of, interleave
from .target import HIPTarget

__all__ = ["Inspection", "Instruction", "get_listing", "inspect"]

_UNITS = (  # prefix of the mnemonic -> unit; the first that fits
    ("v_mfma", "matrix"),
    ("v_smfmac", "matrix"),
    ("v_wmma", "matrix"),
    ("global_", "global memory"),
    ("buffer_", "global memory"),
    ("flat_", "global memory"),
    ("scratch_", "scratch"),
    ("ds_", "LDS"),
    ("s_load", "scalar memory"),
    ("s_buffer", "scalar memory"),
    ("s_waitcnt", "waits"),
    ("s_wait", "waits"),
    ("s_barrier", "barriers"),
    ("s_cbranch", "branches"),
    ("s_branch", "branches"),
    ("v_", "vector ALU"),
    ("s_", "scalar ALU"),
)
_LABEL = pattern(r"^([.\w$]+):")
_LOC = pattern(r"^\s*\.loc\s+(\d+)\s+(\d+)")
_FILE = pattern(r"^\s*\.file\s+(\d+)\s+(?:\"([^\"]*)\"\s+)?\"([^\"]*)\"")


@dataclass(frozen=True)
class Instruction:
    """A mnemonic with its operands, where it comes from, and whether a loop contains it."""

    text: str
    file: str
    line: int
    in_loop: bool

    @property
    def name(self) -> str:
        """The mnemonic without the suffix of its encoding."""
        return self.text.split()[0].removesuffix("_e32").removesuffix("_e64")

    @property
    def unit(self) -> str:
        """The unit that executes it."""
        return next((unit for prefix, unit in _UNITS if self.name.startswith(prefix)), "others")


@dataclass(frozen=True)
class Inspection:
    """What is known of a kernel; `as_json` has it as plain values.

    `units` counts instructions by unit, and by name those of memory and matrices: (static count, in loops).
    """

    kernel: str
    target: str
    warps: int
    vgprs: int
    agprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    scratch: int
    lds: int
    lds_limit: int
    occupancy: Occupancy
    units: dict[str, tuple[int, int]]
    instructions: dict[str, tuple[int, int]]
    roofline: None
    findings: tuple[Finding, ...]

    _repr_mimebundle_ = LazyMethod("...support.display", __package__)  # what notebooks show

    def as_json(self) -> dict[str, object]:
        """Dictionaries, lists, numbers and strings."""
        found: dict[str, object] = plain(self)
        return found

    @property
    def title(self) -> str:
        """The first line of a report."""
        return f"{self.kernel} for {self.target}, {self.warps} warps per workgroup"

    def tables(self) -> list[tuple[str, tuple[str, ...], list[tuple[str | int, ...]]]]:
        """Title, columns and rows of each table of a report."""
        spilled = f"{self.vgpr_spills} VGPRs and {self.sgpr_spills} SGPRs spilled"
        used = self.occupancy
        budget: list[tuple[str | int, ...]] = [
            ("VGPRs", f"{self.vgprs}, {self.agprs} of them AGPRs" if self.agprs else str(self.vgprs), ""),
            ("SGPRs", str(self.sgprs), ""),
            ("scratch", f"{self.scratch} bytes per thread", spilled if self.scratch else "no spills"),
            ("LDS", f"{self.lds:,} of {self.lds_limit:,} bytes", ""),
            (
                "occupancy",
                f"{used.waves} of {used.max_waves} waves per SIMD",
                f"{used.workgroups} workgroups per compute unit, limited by {used.limit}",
            ),
        ]
        counts = ("", "static count", "in loops")
        return [
            ("", ("", "", ""), budget),
            ("instructions by unit", counts, [(name, *n) for name, n in self.units.items()]),
            ("memory and matrix instructions", counts, [(name, *n) for name, n in self.instructions.items()]),
        ]


def inspect(asm: Mapping[str, object], metadata: Mapping[str, object], target: HIPTarget) -> Inspection:
    """The inspection of a compiled kernel."""
    numbers = {name: value for name, value in metadata.items() if isinstance(value, int)}
    code = list(instructions_of(str(stage_of(asm, "amdgcn"))))
    lds = max(numbers["shared"], numbers["static_shared"])
    scratch, loops = numbers["scratch"], sum(i.in_loop for i in code if i.unit == "scratch")
    findings = []
    if numbers["vgpr_spills"]:
        text = (
            f"{numbers['vgpr_spills']} VGPRs spilled to scratch ({scratch} bytes per thread, {loops} accesses in loops)"
        )
        findings.append(Finding("spills", "", "", text, "use smaller tiles or more warps"))
    shown = [i for i in code if i.unit in ("matrix", "global memory", "LDS", "scratch")]
    return Inspection(
        kernel=str(metadata["name"]),
        target=target.key,
        warps=numbers["num_warps"],
        vgprs=numbers["vgprs"],
        agprs=numbers["agprs"],
        sgprs=numbers["sgprs"],
        vgpr_spills=numbers["vgpr_spills"],
        sgpr_spills=numbers["sgpr_spills"],
        scratch=scratch,
        lds=lds,
        lds_limit=target.shared_memory,
        occupancy=occupancy(target.gpu, numbers["vgprs"], lds, numbers["num_warps"]),
        units=_counted([(i.unit, i.in_loop) for i in code]),
        instructions=_counted([(i.name, i.in_loop) for i in shown]),
        roofline=None,
        findings=tuple(findings),
    )


def _counted(found: list[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    total, looped = Counter(name for name, _ in found), Counter(name for name, inside in found if inside)
    return {name: (n, looped[name]) for name, n in total.most_common()}


def get_listing(asm: Mapping[str, object]) -> str:
    """The instructions with a line of the source above what comes from it."""
    rows = [Coded(f"\t{i.text}", i.file, i.line) for i in instructions_of(str(stage_of(asm, "amdgcn")))]
    return interleave(rows, calls_of(str(asm.get("llir", ""))))


def instructions_of(text: str) -> Iterator[Instruction]:
    """The instructions of the kernels in assembly text."""
    files: dict[str, str] = {}
    labels: dict[str, int] = {}
    found: list[tuple[str, str, int]] = []
    file, line, code = "", 0, True
    for row in text.split("\n"):
        row = row.partition(";")[0].rstrip()
        located, named, label = _LOC.match(row), _FILE.match(row), _LABEL.match(row)
        if row.strip().startswith((".text", ".section")):
            code = row.strip() == ".text" or ".text" in row.split(",")[0]
        elif named is not None:
            files[named[1]] = f"{named[2]}/{named[3]}" if named[2] else named[3]
        elif located is not None:
            file, line = files.get(located[1], ""), int(located[2])
        elif label is not None:
            labels[label[1]] = len(found)
        elif code and row.startswith("\t") and not row.startswith("\t."):
            found.append((row.strip(), file, line))
    loops = [(labels[target], i) for i, target in _branches(found) if labels.get(target, i + 1) <= i]
    for i, (instruction, file, line) in enumerate(found):
        yield Instruction(instruction, file, line, any(first <= i <= last for first, last in loops))


def _branches(found: list[tuple[str, str, int]]) -> Iterator[tuple[int, str]]:
    for i, (text, _, _) in enumerate(found):
        if text.startswith(("s_branch", "s_cbranch")):
            yield i, text.split()[-1]

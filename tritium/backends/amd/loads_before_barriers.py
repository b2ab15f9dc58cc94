"""Keep loads before the barrier that follows them, in the code that LLVM generates.

    %v = load i32, ptr addrspace(3) %p                      %v = load i32, ptr addrspace(3) %p
    fence … release                                         call void (...) @llvm.fake.use(i32 %v)
    call void @llvm.amdgcn.s.barrier()                =>    fence … release
    fence … acquire                                         call void @llvm.amdgcn.s.barrier()
    br i1 %c, label %then, label %join                      fence … acquire
  then:                                                     br i1 %c, label %then, label %join
    store i32 %v, ptr addrspace(3) %q

LLVM 22's MachineSink moves an instruction to the only branch that uses its result. It does not move a load past a
store, but past `s_barrier` and fences, which are no stores to it: another wave then overwrites what is still to be
loaded. It does not move what has a use before the barrier.

A load gets that use where the block ends in a conditional branch, and all that depends on the load in the block could
be moved with it. Barriers whose fences order LDS alone (`!mmra`) keep loads from LDS in place, others all loads.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...support.patterns import pattern

__all__ = ["with_loads_before_barriers"]

_BARRIER = "@llvm.amdgcn.s.barrier()"
_FAKE_USE = "@llvm.fake.use"
_DECLARATION = f"declare void {_FAKE_USE}(...)\n"
_NAME = r"%(?:[-\w.$]+|\"[^\"]*\")"
_VALUE = pattern(_NAME)
_SHARED = pattern(rf"  ({_NAME}) = load ([^,]+), ptr addrspace\(3\) ")
_GLOBAL = pattern(
    rf"  ({_NAME}) = (?:load ([^,]+), ptr addrspace\(1\) (?!.*!invariant)|"
    rf"(?:tail )?call (\S+|<[^>]*>) @llvm\.amdgcn\.raw\.ptr\.buffer\.load)"
)
_STAYS = pattern(
    r".* = .*(?:\bphi |\batomicrmw |\bcmpxchg |\basm sideeffect |"
    r"@llvm\.amdgcn\.(?:mfma|wmma|update\.dpp|ds\.|readfirstlane|readlane|permlane|raw\.ptr\.buffer\.atomic))"
)
"""Instructions with a result that are not moved: those with an effect, or that involve other lanes."""


def _loads(lines: list[str]) -> Iterator[tuple[int, int, str, str]]:
    """(line of the load, line before which it is used, type, name) of loads that a barrier of the block follows."""
    pending: list[tuple[int, str, str, bool]] = []
    for at, line in enumerate(lines):
        if _BARRIER in line:
            before = at - 1 if lines[at - 1].startswith("  fence ") else at
            shared_alone = "!mmra" in lines[before]
            for load, ty, name, shared in pending:
                if shared or not shared_alone:
                    yield load, before, ty, name
            pending = [entry for entry in pending if shared_alone and not entry[3]]
        elif (found := _SHARED.match(line)) is not None:
            pending.append((at, found[2], found[1], True))
        elif (found := _GLOBAL.match(line)) is not None:
            pending.append((at, found[2] or found[3], found[1], False))


def _movable(lines: list[str]) -> set[str]:
    """The values of a block that nothing which stays in the block depends on."""
    pinned: set[str] = set()
    movable: set[str] = set()
    for line in reversed(lines):
        name, equals, rest = line.strip().partition(" = ")
        if not equals or name[0] != "%":
            pinned.update(_VALUE.findall(line))
        elif name in pinned or _STAYS.match(line) is not None:
            pinned.update(_VALUE.findall(rest))
        else:
            movable.add(name)
    return movable


def _kept(block: str, in_phis: set[str]) -> str:
    """A block whose loads stay before its barriers; `in_phis`: values that other blocks get along edges."""
    lines = block.split("\n")
    if not any(line.startswith("  br i1 ") for line in lines[-3:]):
        return block
    movable = _movable(lines)
    uses: dict[int, list[str]] = {}
    for _, before, ty, name in _loads(lines):
        if name in movable and name not in in_phis:
            uses.setdefault(before, []).append(f"  call void (...) {_FAKE_USE}({ty} {name})")
    return "\n".join(text for at, line in enumerate(lines) for text in (*uses.get(at, ()), line)) if uses else block


def with_loads_before_barriers(llir: str) -> str:
    """LLVM text whose loads are not moved past barriers by code generation."""
    if _BARRIER not in llir or "  br i1 " not in llir:
        return llir
    blocks = llir.split("\n\n")
    phis = {name for line in llir.split("\n") if " = phi " in line for name in _VALUE.findall(line.partition("phi")[2])}
    made = "\n\n".join(_kept(block, phis) if _BARRIER in block else block for block in blocks)
    return made if made == llir or f"{_FAKE_USE}(...)" in llir else f"{made}\n{_DECLARATION}"

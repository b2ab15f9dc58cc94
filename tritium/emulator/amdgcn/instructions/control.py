"""Instructions that change no register: waits, hints, modes, messages (MI300 ISA, section 4; RDNA3 ISA, section 5).

Branches, barriers and the end of a program are not steps: `program` ends segments of code with them.
"""

from __future__ import annotations

from ...errors import AssemblyError, DeviceTrap
from ..assembly import Instruction
from ..operands import Builder
from ..registry import Action, special
from ..state import State

_NOTHING = (
    "s_nop s_waitcnt s_waitcnt_vmcnt s_waitcnt_lgkmcnt s_waitcnt_vscnt s_waitcnt_expcnt s_waitcnt_depctr s_delay_alu "
    "s_clause s_setprio s_sleep s_sethalt s_icache_inv s_dcache_inv s_dcache_wb s_inst_prefetch s_set_inst_prefetch_"
    "distance s_code_end s_ttracedata s_incperflevel s_decperflevel s_sendmsg s_wait_idle s_wakeup s_round_mode "
    "v_nop buffer_gl0_inv buffer_gl1_inv buffer_inv buffer_wbl2 buffer_wbinvl1 buffer_wbinvl1_vol v_pipeflush"
)


@special(_NOTHING)
def nothing(i: Instruction, b: Builder) -> Action:
    """No effect that the emulator models: memory is coherent, and time does not pass."""
    return Action(lambda s: None)


@special("s_trap")
def trap(i: Instruction, b: Builder) -> Action:
    def run(s: State) -> None:
        raise s.error(DeviceTrap, "the kernel executed s_trap", int(s.waves[0]))

    return Action(run)


@special("s_denorm_mode")
def denorm_mode(i: Instruction, b: Builder) -> Action:
    """Bits 0-1: denormals of f32; 2-3: of f16 and f64. 3 keeps them, 0 takes and gives zero."""
    return Action(lambda s: _set_denormals(s, int(i.operands[0].value), i))


def _set_denormals(s: State, value: int, i: Instruction) -> None:
    for bits in (value & 3, value >> 2 & 3):
        if bits not in (0, 3):
            raise AssemblyError(f"{i.name}: denormals flushed on one side only are not supported", i)
    s.flush32, s.flush64 = value & 3 == 0, value >> 2 & 3 == 0


def _saturate(s: State, value: bool) -> None:
    s.saturate = value


@special("s_setreg_imm32_b32 s_setreg_b32")
def setreg(i: Instruction, b: Builder) -> Action:
    """Of the hardware registers only fields of MODE can be written: denormals (bits 4-7), and FP16_OVFL (bit 23)."""
    fields = i.operands[0].name.removeprefix("hwreg(").rstrip(")").split(",")
    value = i.operands[1]
    if fields[0] not in ("HW_REG_MODE", "HW_REG_WAVE_MODE", "1") or value.kind != "int" or len(fields) != 3:
        raise b.fail("only fields of HW_REG_MODE can be written, by constants")
    offset, width, number = int(fields[1]), int(fields[2]), int(value.value)
    if (offset, width) == (23, 1):
        return Action(lambda s: _saturate(s, number == 1))
    if offset < 4 or offset + width > 8:
        raise b.fail("of HW_REG_MODE only the fields of denormals and FP16_OVFL can be written")
    mask = ((1 << width) - 1) << (offset - 4)

    def run(s: State) -> None:
        old = (0 if s.flush32 else 3) | (0 if s.flush64 else 12)
        _set_denormals(s, (old & ~mask) | (number << (offset - 4) & mask), i)

    return Action(run)

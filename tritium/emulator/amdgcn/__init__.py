"""An emulator of AMD GPUs: it executes AMDGCN assembly of gfx942 and gfx11 on the CPU, with NumPy.

Like the emulator of PTX it shares nothing with the compiler. Instructions mean what AMD's ISA documents say ("AMD
Instinct MI300 Instruction Set Architecture", "RDNA3 Instruction Set Architecture"); modules name the sections. It
checks what hardware does not: every access lies in an array that was passed and is aligned; no register is accessed
before the `s_waitcnt` for the load that writes it; waves do not race in LDS; every barrier is reached by all.
"""

from .launch import launch

__all__ = ["launch"]

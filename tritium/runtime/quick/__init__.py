"""Quick launches: a launch makes a plan, by which native code does the next ones of its kind.

`plan` says what the arguments must be, `native` has it as native code reads it, and that code is LLVM text (`text` and
the files `*_ir`), compiled once for the machine; `table` holds a kernel's latest plans. A launch of five tensors and a
number takes 0.2 us of the processor's time that way, besides what the driver takes.
"""

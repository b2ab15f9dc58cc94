"""The launch fast path: a launch makes a plan, with which native code executes the next launches of its kind.

`plan` makes the guards of the arguments, `native` encodes a plan for native code, which is LLVM text (`text` and the
files `*_ir`), compiled once for the machine; `table` holds a kernel's latest plans. A launch of five tensors and a
number takes 0.2 us of CPU time that way, besides the driver's time.
"""

import contextlib
import ctypes
import gc
import math
import random
import subprocess
import sys

import pytest

from tritium.backends.cpu import BackendError, compile_llvm, host_target, load_object, named_target
from tritium.backends.cpu.elf import MACHINE_AARCH64, parse_elf
from tritium.backends.cpu.loader import _Image, process_symbol
from tritium.backends.cpu.relocate import ARCHITECTURES

EVERYTHING = """
@table = internal constant [4 x i64] [i64 11, i64 22, i64 33, i64 44]
@counter = global i64 5
@zeros = internal global [100 x i64] zeroinitializer
@pointers = internal constant [2 x ptr] [ptr @counter, ptr @table]
@outside = external global i64
declare double @cos(double)
declare ptr @memset(ptr, i32, i64)

define i64 @lookup(i64 %i) {
  %p = getelementptr i64, ptr @table, i64 %i
  %v = load i64, ptr %p
  ret i64 %v
}
define i64 @count() {
  %p = getelementptr ptr, ptr @pointers, i64 0
  %c = load volatile ptr, ptr %p
  %v = load i64, ptr %c
  %w = add i64 %v, 1
  store i64 %w, ptr %c
  ret i64 %w
}
define double @call_libm(double %x) {
  %y = call double @cos(double %x)
  %z = fmul double %y, 2.5
  ret double %z
}
define i64 @read_outside() {
  %v = load i64, ptr @outside
  ret i64 %v
}
define i64 @fill() {
  %p = getelementptr i64, ptr @zeros, i64 1
  %r = call ptr @memset(ptr %p, i32 1, i64 8)
  %v = load i64, ptr %p
  %q = load i64, ptr @zeros
  %s = or i64 %v, %q
  ret i64 %s
}
define i32 @pick(i32 %x) {
  switch i32 %x, label %other [
    i32 0, label %a
    i32 1, label %b
    i32 2, label %c
    i32 3, label %d
    i32 4, label %e
  ]
a:
  ret i32 70
b:
  ret i32 13
c:
  ret i32 99
d:
  ret i32 -4
e:
  ret i32 5
other:
  ret i32 0
}
"""


def _function(loaded, name, result, *arguments):
    return ctypes.CFUNCTYPE(result, *arguments)(loaded.address(name))


@pytest.mark.parametrize("level", range(4))
def test_everything_an_object_may_hold(level):
    outside = ctypes.c_int64(1234)
    code = compile_llvm(EVERYTHING, host_target(), level).object
    loaded = load_object(code, {"outside": ctypes.addressof(outside)})
    i64 = ctypes.c_int64
    assert [_function(loaded, "lookup", i64, i64)(i) for i in range(4)] == [11, 22, 33, 44]
    assert [_function(loaded, "count", i64)() for _ in range(3)] == [6, 7, 8]
    assert i64.from_address(loaded.address("counter")).value == 8
    assert math.isclose(_function(loaded, "call_libm", ctypes.c_double, ctypes.c_double)(0.5), 2.5 * math.cos(0.5))
    assert _function(loaded, "read_outside", i64)() == 1234
    assert _function(loaded, "fill", i64)() == 0x0101010101010101
    pick = _function(loaded, "pick", ctypes.c_int32, ctypes.c_int32)
    assert [pick(i) for i in range(6)] == [70, 13, 99, -4, 5, 0]


def test_two_copies_do_not_share_data():
    code = compile_llvm(EVERYTHING, host_target()).object
    one, two = (load_object(code, {"outside": 0}) for _ in range(2))
    count_one, count_two = (_function(o, "count", ctypes.c_int64) for o in (one, two))
    assert (count_one(), count_one(), count_two()) == (6, 7, 6)


def test_undefined_and_missing_symbols_are_named():
    code = compile_llvm(
        "declare void @no_such_thing()\ndefine void @f() {\n call void @no_such_thing()\n ret void\n}", host_target()
    ).object
    with pytest.raises(BackendError, match="no_such_thing"):
        load_object(code)
    with pytest.raises(BackendError, match=r"'g'.*f"):
        load_object(code, {"no_such_thing": 0}).address("g")
    with pytest.raises(BackendError, match="no_such"):
        process_symbol("no_such_function_anywhere")


def test_code_is_not_writable():
    code = compile_llvm("define i32 @f() {\n ret i32 1\n}", host_target()).object
    loaded = load_object(code)
    with open("/proc/self/maps") as f:
        for line in f:
            span, rights = line.split()[:2]
            low, high = (int(x, 16) for x in span.split("-"))
            if low <= loaded.address("f") < high:
                assert rights.startswith("r-x")
                break
        else:
            pytest.fail("the code is in no mapping")


def test_foreign_objects_are_refused():
    arm = compile_llvm("define i32 @f() {\n ret i32 1\n}", named_target("aarch64")).object
    x86 = compile_llvm("define i32 @f() {\n ret i32 1\n}", named_target("x86-64")).object
    foreign = arm if host_target().arch == "x86_64" else x86
    with pytest.raises(BackendError, match="another machine"):
        load_object(foreign)
    with pytest.raises(BackendError):
        load_object(b"hello")


def test_damaged_objects_are_exceptions_not_crashes():
    """Whatever bytes are flipped or cut in headers and tables, loading ends in an object or a BackendError."""
    code = compile_llvm(EVERYTHING, host_target()).object
    rng = random.Random(7)
    for _ in range(400):
        damaged = bytearray(code)
        for _ in range(rng.choice((1, 4, 40))):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        if rng.random() < 0.3:
            del damaged[rng.randrange(len(damaged)) :]
        with contextlib.suppress(BackendError):
            load_object(bytes(damaged), {"outside": 0})


def test_mappings_are_given_back():
    code = compile_llvm("define i32 @f() {\n ret i32 1\n}", host_target()).object

    def mappings():
        gc.collect()
        with open("/proc/self/maps") as f:
            return sum(1 for _ in f)

    load_object(code)
    before = mappings()
    for _ in range(300):
        load_object(code)
    assert mappings() <= before + 5


def test_aarch64_relocations_point_where_they_should():
    """Decode the patched instructions of a cross-compiled object, without running them."""
    code = compile_llvm(EVERYTHING, named_target("aarch64")).object
    elf = parse_elf(code)
    image = _Image(elf, {"outside": 0x7000_0000_0000, "cos": 0x7000_0000_1000, "memset": 0x7000_0000_2000})
    base = 0x5555_0000_0000
    view = memoryview(bytearray(image.size))
    for i, offset in image.offsets.items():
        if elf.sections[i].data is not None:
            view[offset : offset + elf.sections[i].size] = elf.sections[i].data
    image._fill_slots(view, base)
    image._relocate(view, base)
    kinds = set()
    pages = {}
    for r in elf.relocations:
        at = image.offsets[r.section] + r.offset
        place = base + at
        word = int.from_bytes(view[at : at + 4], "little")
        symbol = elf.symbols[r.symbol]
        kinds.add(r.kind)
        if r.kind in (275, 311):
            delta = (word >> 29 & 3) | (word >> 5 & 0x7FFFF) << 2
            delta -= (delta >> 20) << 21
            pages[word & 31] = (place & ~0xFFF) + (delta << 12)
        elif r.kind in (277, 278, 284, 285, 286, 299, 312):
            shift = {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4, 312: 3}[r.kind]
            reached = pages[word >> 5 & 31] + ((word >> 10 & 0xFFF) << shift)
            if r.kind == 312:
                slot = reached - base
                assert int.from_bytes(view[slot : slot + 8], "little") == image._value(r.symbol, base)
            else:
                assert reached == image._value(r.symbol, base) + r.addend
        elif r.kind in (282, 283):
            delta = word & 0x3FF_FFFF
            delta -= (delta >> 25) << 26
            reached = place + 4 * delta
            if symbol.section is None:
                stub = reached - base
                assert bytes(view[stub : stub + 8]) == ARCHITECTURES[MACHINE_AARCH64].stub
                assert int.from_bytes(view[stub + 8 : stub + 16], "little") == image._value(r.symbol, base)
    assert {275, 277, 283} <= kinds and kinds & {311, 286}


def test_a_cached_kernel_needs_no_llvm(texts, tmp_path):
    (tmp_path / "k.o").write_bytes(compile_llvm(texts.vector_add_text(), host_target()).object)
    code = (
        "import sys; from tritium.backends.cpu import load_object;"
        "load_object(open(sys.argv[1], 'rb').read()).address('kernel'); print('llvmlite' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "k.o")], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr

import dataclasses
import subprocess
import sys

import pytest

from tritium.backends.compiler import GPUTarget
from tritium.backends.cpu import BackendError, host_target, named_target, target_names
from tritium.backends.cpu.compiler import CPUBackend
from tritium.backends.cpu.target import describe


def test_host_is_what_llvm_says():
    import llvmlite.binding as llvm

    host = host_target()
    assert host.cpu == llvm.get_host_cpu_name()
    assert host.triple == llvm.get_process_triple()
    told = llvm.get_host_cpu_features().flatten()
    assert host.features in (told, told.replace("+amx", "-amx"))  # the system may refuse tiles
    assert named_target("host") is host


@pytest.mark.parametrize("arch", ["", 0, "0", "host"])
def test_target_without_a_name_is_the_host(arch):
    assert CPUBackend(GPUTarget("cpu", arch, 0)).target is named_target("host")


@pytest.mark.parametrize(
    ("name", "bits", "registers", "lanes"),
    [("x86-64", 128, 16, 4), ("x86-64-v3", 256, 16, 8), ("x86-64-v4", 512, 32, 16), ("aarch64", 128, 32, 4)],
)
def test_named_targets(name, bits, registers, lanes):
    target = named_target(name)
    assert (target.vector_bits, target.vector_registers, target.lanes(32)) == (bits, registers, lanes)


def test_features_decide():
    assert not named_target("x86-64-v4").has_vnni
    assert named_target("cascadelake").has_vnni and not named_target("cascadelake").has_bf16
    assert named_target("sapphirerapids").has_amx
    assert named_target("neoverse-v1").has_i8mm and not named_target("aarch64").has_bf16
    assert named_target("apple-m1").arch == "aarch64"
    # a virtual machine that hides avx512vl: full-width masks are then not to be had
    hidden = describe("x86_64-unknown-linux-gnu", "znver4", "+avx,+avx2,+fma,+avx512f,-avx512vl")
    assert hidden.vector_bits == 256 and not hidden.has_avx512


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(BackendError, match=r"'z80'.*x86-64-v3"):
        named_target("z80")
    with pytest.raises(BackendError, match="riscv64"):
        describe("riscv64-unknown-linux-gnu", "", "")


def test_every_name_compiles():
    from tritium.backends.cpu import compile_llvm

    for name in target_names():
        module = compile_llvm("define float @f(float %x) {\n  ret float %x\n}", named_target(name))
        assert module.object and "f" in module.asm


def test_keys_differ_and_targets_are_values():
    keys = {named_target(n).key for n in target_names()}
    assert len(keys) == len(target_names())
    target = named_target("x86-64-v3")
    assert dataclasses.replace(target) == target and hash(dataclasses.replace(target)) == hash(target)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux describes its processor in a file")
def test_second_process_needs_no_llvm(records):
    code = (
        "import sys; from tritium.backends.cpu import host_target; t = host_target();"
        "print(t.cpu, 'llvmlite' in sys.modules)"
    )
    first, second = (subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in range(2))
    assert first.stdout.split()[1] == "True", first.stderr
    assert second.stdout.split()[1] == "False", second.stderr
    assert first.stdout.split()[0] == second.stdout.split()[0]
    (record,) = records.iterdir()
    record.write_bytes(record.read_bytes()[:-1] + b"?")
    third = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert third.stdout == first.stdout  # the damaged record is not believed

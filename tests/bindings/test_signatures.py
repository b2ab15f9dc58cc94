"""Classes that programs make with Triton's arguments: errors, parameters, settings, kernels of files."""

from __future__ import annotations

import ast
import inspect
import json
import os
import pickle
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import tritium.language as tl
from tests.bindings.test_pass_managers import add, add_source, matmul_source
from tritium import knobs
from tritium._C.libtriton import ir
from tritium.backends.compiler import GPUTarget
from tritium.compiler import CompiledKernel, IRSource, SourceError, compile, make_backend
from tritium.dropin.compiler import get_cache_key
from tritium.frontend.callee import Parameter
from tritium.frontend.errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct
from tritium.runtime.jit_parts import native_specialize_impl
from tritium.support.settings import invalidating_environment

SOURCE = "def f(x):\n    y = x + 1\n    return y @ x\n"

# ---- errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct])
def test_errors_with_a_source_and_a_node_show_the_line(kind) -> None:
    node = ast.parse(SOURCE).body[0].body[1].value
    error = kind(src=SOURCE, node=node, error_message="no operator @")
    assert error.src == SOURCE and error.node is node and error.error_message == "no operator @"
    lines = str(error).splitlines()
    assert lines[0] == "<source>:3:12: error: no operator @"
    assert "    return y @ x" in lines[-2] and lines[-1].endswith("^^^^^") and error.message == str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_errors_without_a_source_or_a_message() -> None:
    node = ast.Pass()
    assert str(CompilationError(None, node, "it fails")) == "error: it fails"
    error = CompilationError(None, node)
    assert error.src is None and error.node is node and error.error_message == ""
    assert "return y @ x" in str(CompilationError(SOURCE, ast.parse(SOURCE).body[0].body[1]))


# ---- parameters ----------------------------------------------------------------------------------------------------


def test_parameters_are_made_of_those_of_inspect() -> None:
    def f(x, n: int = 3, *, BLOCK: tl.constexpr, p: "tl.const" = None):  # noqa: UP037
        pass

    given = inspect.signature(f).parameters.values()
    x, n, block, p = (Parameter(i, q, i == 1, i == 0) for i, q in enumerate(given))
    assert (x.name, x.num, x.has_default, x.annotation) == ("x", 0, False, "")
    assert n.default == 3 and n.annotation == "int" and n.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert block.is_constexpr and block.keyword_only and p.is_const and not p.is_constexpr
    assert [q.do_not_specialize for q in (x, n, block)] == [False, True, False]
    assert [q.do_not_specialize_on_alignment for q in (x, n, block)] == [True, False, False]


# ---- settings ------------------------------------------------------------------------------------------------------


class env_list(knobs.env_base):
    """Words with commas between; a text that is assigned is split too."""

    def get(self):
        return self.transform(os.environ.get(self.key, ""))

    def transform(self, val):
        return val.split(",") if isinstance(val, str) and val else [] if isinstance(val, str) else val


class mine(knobs.base_knobs):
    words = env_list("MY_WORDS")
    nothing = knobs.env_base("MY_NOTHING")
    tool = knobs.env_nvidia_tool("ptxas-mine")


def test_kinds_of_settings_read_with_get_and_transform(monkeypatch) -> None:
    monkeypatch.setenv("MY_WORDS", "a,b")
    group = mine()
    assert group.words == ["a", "b"] and mine.words.key == "MY_WORDS"
    group.words = "c,d"
    assert group.words == ["c", "d"] and os.environ["MY_WORDS"] == "c,d"
    del group.words
    monkeypatch.setenv("MY_WORDS", "e")
    assert group.words == ["e"]
    with pytest.raises(NotImplementedError, match="env_base has no get"):
        _ = group.nothing
    group.nothing = 5
    assert group.nothing == 5 and os.environ.pop("MY_NOTHING") == "5"
    assert group.tool is None and isinstance(mine.tool, knobs.env_base)


def test_variables_as_triton_reads_them(monkeypatch) -> None:
    monkeypatch.setenv("MY_FLAG", "on")
    assert knobs.getenv_bool("MY_FLAG", False) and knobs.getenv("MY_FLAG") == "on"
    assert knobs.getenv_bool("MY_NO_FLAG", True) and knobs.getenv("MY_NO_FLAG", "x") == "x"


# ---- specialization, and kernels of texts ----------------------------------------------------------------------------


class Strides(NamedTuple):
    x: object
    y: object


def test_members_of_tuples_are_specialized_each() -> None:
    expected = {
        (1, 1): (("constexpr", "constexpr"), (1, 1)),
        (False, 16): (("u1", "i32"), (None, "D")),
        (2.5, (None, 17)): (("fp32", ("constexpr", "i32")), (None, (None, ""))),
    }
    assert {v: native_specialize_impl(None, v, True, False, False) for v in expected} == expected
    types, keys = native_specialize_impl(None, Strides(1, 2), False, True, True)
    assert types == Strides("constexpr", "i32") and keys == Strides(1, "") and isinstance(types, Strides)


TTGIR = """module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90",
  "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %d: !tt.ptr<i8> {tt.nv_tma_desc = 1 : i32}) {
    tt.return
  }
}
"""


def test_a_source_with_a_context_is_described_as_triton_s(tmp_path) -> None:
    """`compile` takes it, and one without."""
    path, target = tmp_path / "k.ttgir", GPUTarget("cuda", 90, 32)
    path.write_text(TTGIR)
    source = IRSource(str(path), ir.context(), make_backend(target))
    assert source.name == "@k" and source.signature == {0: "*f32", 1: "i32", 2: "nvTmaDesc"}
    assert source.parse_options()["num_warps"] == 8 and source.ext == "ttgir"
    module = source.make_ir(target, make_backend(target).parse_options({}), {}, {}, ir.context())
    assert module.get_int_attr("ttg.num-warps") == 8
    made, plain = (compile(s, target=target, until="ptx") for s in (source, IRSource(str(path))))
    assert made.name == plain.name == "k" and made.hash == plain.hash and made.metadata.num_warps == 8


# ---- kernels of files ----------------------------------------------------------------------------------------------


def test_a_kernel_is_made_again_from_the_files_of_its_stages() -> None:
    x, y, out = np.arange(64, dtype=np.float32), np.ones(64, np.float32), np.zeros(64, np.float32)
    made = add[(1,)](x, y, out, 64, BLOCK=64)
    again = CompiledKernel(src=made.src, metadata_group=made.metadata_group, hash=made.hash)
    assert again.name == "add" and again.hash == made.hash and again.kernel == made.kernel
    assert again.metadata.num_warps == made.metadata.num_warps and again.asm["ttir"] == made.asm["ttir"]
    out[:] = 0
    again[(1,)](x, y, out, 64, 64)
    np.testing.assert_array_equal(out, 2 * x + y)


def test_replaced_constructor_sees_the_files_of_a_compile_and_may_change_them(monkeypatch, tmp_path) -> None:
    """Programs put their own `CompiledKernel.__init__` in place, to keep kernels in folders of their own."""
    original, seen = CompiledKernel.__init__, []

    def replaced(self, src, metadata_group, hash):
        seen.append(sorted(metadata_group))
        if "add.json" in metadata_group and (tmp_path / "add.ptx").exists():
            metadata_group["add.ptx"] = str(tmp_path / "add.ptx")
        original(self, src, metadata_group, hash)

    target = GPUTarget("cuda", 90, 32)
    plain = compile(add_source(), target=target, until="ptx")
    monkeypatch.setattr(CompiledKernel, "__init__", replaced)
    same = compile(add_source(), target=target, until="ptx")
    assert seen == [["add.json", "add.llir", "add.ptx", "add.source", "add.ttgir", "add.ttir"]]
    assert same.asm["ptx"] == plain.asm["ptx"] and same.metadata == plain.metadata
    (tmp_path / "add.ptx").write_text("// another text")
    changed = compile(add_source(), target=target, until="ptx")
    assert changed.asm["ptx"] == "// another text" and changed.hash == plain.hash
    assert changed.metadata_group["add.ptx"] == str(tmp_path / "add.ptx")


def test_kernel_for_another_machine_from_files() -> None:
    made = compile(add_source(), target=GPUTarget("cuda", 90, 32), until="ptx")
    again = CompiledKernel(made.src, made.metadata_group, "0123")
    assert again.hash == "0123" and again.asm["ptx"] == made.asm["ptx"]
    assert again.metadata.target == GPUTarget("cuda", 90, 32) and again.packed_metadata == made.packed_metadata


def test_metadata_may_hold_the_target_as_json_writes_it(tmp_path) -> None:
    """Programs that run the stages themselves write the metadata with the GPUTarget that they compiled for."""
    made = compile(add_source(), target=GPUTarget("cuda", 90, 32), until="ptx")
    group = dict(made.metadata_group)
    described = json.loads(Path(group["add.json"]).read_text())
    group["add.json"] = str(tmp_path / "add.json")
    Path(group["add.json"]).write_text(json.dumps({**described, "target": GPUTarget("cuda", 90, 32)}))
    again = CompiledKernel(made.src, group, "0123")
    assert again.metadata.target == GPUTarget("cuda", 90, 32) and again.asm["ptx"] == made.asm["ptx"]


def test_files_that_are_no_kernel(tmp_path) -> None:
    with pytest.raises(SourceError, match=r"name.json.*there are: add.ptx"):
        CompiledKernel(None, {"add.ptx": "nowhere"}, "0123")
    (tmp_path / "add.json").write_text("{}")
    with pytest.raises(SourceError, match="names no target"):
        CompiledKernel(None, {"add.json": str(tmp_path / "add.json")}, "0123")


def test_keys_for_caches_of_a_program_s_own() -> None:
    def key(target=("cuda", 90, 32), source=None, settings=(), **options):
        backend = make_backend(GPUTarget(*target))
        return get_cache_key(source or add_source(), backend, backend.parse_options(options), dict(settings))

    keys = [
        key(),
        key(("cpu", "x86-64-v3", 1)),
        key(num_warps=8),
        key(source=matmul_source()),
        key(settings=[("a", 1)]),
    ]
    assert len({*keys, key()}) == len(keys)


def test_compile_uses_the_settings_of_its_key() -> None:
    target = GPUTarget("cuda", 80, 32)
    plain = compile(add_source(), target=target, until="ttir")
    same = compile(add_source(), target, {}, "ttir", _env_vars=invalidating_environment())
    other = compile(add_source(), target=target, until="ttir", _env_vars={"MINE": "1"})
    assert plain.hash == same.hash != other.hash

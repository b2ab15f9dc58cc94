"""Plugins: passes at places of the pipelines, their part in keys, other processes, functions of the language, errors."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs, plugins
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.compiler import plugins as loading
from tritium.compiler.workers import CompilerPool
from tritium.ir import PASSES, Nest, Pass, PassManager, parse_module, pass_on
from tritium.ir.passes import insertion
from tritium.plugins import PluginError, insert_pass, insertions, remove_pass

ROOT = Path(__file__).resolve().parents[2]
CPU, H100 = GPUTarget("cpu", "", 1), GPUTarget("cuda", 90, 32)
seen: list[str] = []


@pass_on("module")
def note_it(module):
    seen.append(module.name)
    return False


@pass_on("function", name="note-functions")
def note_functions(function):
    seen.append(function.name)
    return False


@tritium.jit
def fill(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1)


def source():
    return ASTSource(fill, {"x": "*i32"}, {"BLOCK": 16})


@pytest.fixture(autouse=True)
def clean(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    passes, loaded, modules = dict(PASSES._infos), dict(loading._loaded), set(sys.modules)
    seen.clear()
    fill.device_caches.clear()
    with knobs.compilation.scope():
        yield
    PASSES._infos = passes
    loading._loaded.clear()
    loading._loaded.update(loaded)
    insertion._inserted.clear()
    insertion._changed()
    for name in set(sys.modules) - modules:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def rows(*names):
    return [Pass(name, print) for name in names]


def names(found):
    return [str(row) if isinstance(row, Nest) else row.name for row in found]


# -- places -----------------------------------------------------------------------------------------------------------


def test_places() -> None:
    there = rows("cse", "dce", "cse", "licm")
    insert_pass(note_it, "ttir", after="cse")
    assert names(insertion.with_insertions(there, "ttir")) == ["cse", "dce", "cse", "note-it", "licm"]
    assert names(insertion.with_insertions(there, "ttgir")) == names(there)
    insert_pass(note_functions, "ttir", before="cse")
    found = names(insertion.with_insertions(there, "ttir"))
    assert found == ["note-functions", "cse", "dce", "cse", "note-it", "licm"]
    remove_pass(note_it)
    remove_pass(note_functions)
    insert_pass(note_it, "ttir")
    insert_pass(note_functions, "ttir")
    assert names(insertion.with_insertions(there, "ttir"))[-2:] == ["note-it", "note-functions"]


def test_in_order_in_front_of_the_same_pass() -> None:
    insert_pass(note_it, "ttir", before="dce")
    insert_pass(note_functions, "ttir", before="dce")
    assert names(insertion.with_insertions(rows("cse", "dce"), "ttir")) == ["cse", "note-it", "note-functions", "dce"]


def test_names_of_others_and_nests() -> None:
    insert_pass(note_it, "ttgir", after="tritongpu-coalesce")  # Triton's name for it
    assert insertions()[0].after == "coalesce"
    nested = [Nest("tt.func", rows("coalesce", "cse")), *rows("dce")]
    assert names(insertion.with_insertions(nested, "ttgir"))[1:] == ["note-it", "dce"]


def test_inserting_a_pass_again_has_no_effect() -> None:
    for _ in range(2):
        insert_pass(note_it, "ttir", after="cse")
    assert len(insertions()) == 1 and insertions()[0].by == __name__


@pytest.mark.parametrize(
    "arguments, error",
    [
        ((print, "ttir"), "insert_pass: builtins.print is no pass: it has no @pass_on"),
        ((note_it, "ptx"), "note_it: the stage 'ptx' has no pipeline; there are ttir, ttgir, llir"),
        ((note_it, "ttir", "cse", "dce"), "either `after` or `before` a pass"),
        ((note_it, "ttir", "ces"), "there is no pass 'ces'"),
    ],
)
def test_places_that_cannot_be(arguments, error) -> None:
    fn, stage, after, before = (*arguments, None, None)[:4]
    with pytest.raises(PluginError) as caught:
        insert_pass(fn, stage, after=after, before=before)
    assert error in str(caught.value) and not insertions()


def test_a_pass_that_a_target_does_not_have() -> None:
    insert_pass(note_it, "ttgir", after="prefetch")  # what comes before Hopper has it
    with pytest.raises(PluginError) as caught:
        compile(source(), H100)
    text = str(caught.value)
    assert text.startswith(
        f"{__name__} inserts the pass note-it after prefetch in the stage ttgir, which has no such pass"
    )
    assert "coalesce, " in text


# -- compiles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target, stages", [(CPU, ["ttir"]), (H100, ["ttir", "ttgir", "llir"])])
def test_every_compile_runs_them(target, stages) -> None:
    insert_pass(note_functions, "ttir", after="canonicalize")
    insert_pass(note_it, "ttgir", after="coalesce")
    insert_pass(note_it, "llir", before="allocate-shared-memory")
    compile(source(), target)
    assert seen == ["tt.func", *["builtin.module"] * (len(stages) - 1)]


def test_pipelines_of_the_users_own_are_as_written() -> None:
    insert_pass(note_it, "ttir")
    PassManager("cse").run(parse_module("tt.func @f() { tt.return }"))
    assert not seen


def test_they_are_part_of_the_key() -> None:
    heard = []
    knobs.compilation.listener = lambda **told: heard.append(told["cache_hit"])

    def launch():
        x = np.zeros(16, np.int32)
        fill[(1,)](x, 16)
        assert x.all()

    launch()
    launch()
    insert_pass(note_it, "ttir")
    launch()
    launch()
    assert heard == [False, False] and len(seen) == 1
    fill.device_caches.clear()
    launch()
    remove_pass(note_it)
    launch()
    assert heard == [False, False, True, True] and len(seen) == 1


def write(tmp_path, name: str, text: str) -> None:
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))


PLUGIN = """
    from tritium.ir import pass_on, StringAttr
    from tritium.plugins import insert_pass

    @pass_on("module")
    def mark_it(module):
        module.attributes["mine"] = StringAttr({text!r})

    insert_pass(mark_it, "ttir")
"""


def test_a_plugin_of_the_setting(tmp_path) -> None:
    write(tmp_path, "marker", PLUGIN.format(text="one"))
    knobs.compilation.plugins = "marker"
    assert 'mine = "one"' in compile(source(), H100).asm["ttgir"]
    assert [i.by for i in insertions()] == ["marker"] and PASSES.find("mark-it") is not None


def test_keys_follow_the_file(tmp_path) -> None:
    """What another version of a plugin compiled is not taken; the same text in another process is."""
    hashes = []
    for text in ("one", "two", "one"):
        write(tmp_path, "marker", PLUGIN.format(text=text))
        script = (
            "import test_plugins_source as s; from tritium.compiler import *; "
            "k = compile(ASTSource(s.fill, {'x': '*i32'}, {'BLOCK': 16}), GPUTarget('cpu', '', 1)); "
            "print(k.hash, k.asm['ttir'].count('two'))"
        )
        write(
            tmp_path,
            "test_plugins_source",
            "import tritium, tritium.language as tl\n@tritium.jit\ndef fill(x, BLOCK: tl.constexpr):\n    tl.store(x + tl.arange(0, BLOCK), 1)\n",
        )
        env = {
            **os.environ,
            "TRITIUM_PLUGINS": "marker",
            "PYTHONPATH": f"{ROOT}:{tmp_path}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
        hashes.append(done.stdout.split())
    assert hashes[0] == hashes[2] and hashes[0][0] != hashes[1][0]
    assert [count for _, count in hashes] == ["0", "1", "0"]


def test_processes_that_compile_for_others_have_it(tmp_path, monkeypatch) -> None:
    write(tmp_path, "marker", PLUGIN.format(text="there"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    knobs.compilation.plugins = "marker"
    pool = CompilerPool(2)
    pool.expect(9)
    try:
        pool._start(CPU)
        with pool._changed:
            assert pool._changed.wait_for(lambda: pool._ready == 2, timeout=60)
        taken, original = [], CompilerPool._take
        monkeypatch.setattr(
            CompilerPool, "_take", lambda self, portable: taken.append(portable) or original(self, portable)
        )
        assert 'mine = "there"' in compile(source(), CPU, elsewhere=pool).asm["ttir"]
        assert taken == [True]
        insert_pass(note_it, "ttir")  # which only this process has
        compile(source(), CPU, elsewhere=pool)
        assert taken == [True, False] and seen
    finally:
        pool.close()


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, error",
    [
        ("1 / 0", "the plugin odd cannot be imported: ZeroDivisionError: division by zero (…/odd.py:1)"),
        (
            "import no_such_thing",
            "the plugin odd cannot be imported: ModuleNotFoundError: No module named 'no_such_thing' (…/odd.py:1)",
        ),
        ("\nx = (", "the plugin odd cannot be imported: SyntaxError: '(' was never closed (odd.py, line 2)"),
        (
            "from tritium.plugins import insert_pass\ninsert_pass(len, 'ttir')",
            "the plugin odd cannot be used: insert_pass: builtins.len is no pass: it has no @pass_on",
        ),
    ],
)
def test_broken_plugins(tmp_path, text, error) -> None:
    write(tmp_path, "odd", text)
    knobs.compilation.plugins = "odd"
    with pytest.raises(PluginError) as caught:
        compile(source(), CPU)
    assert str(caught.value).replace(str(tmp_path), "…") == error
    knobs.compilation.plugins = None
    assert compile(source(), CPU).kernel


def test_missing_plugin_is_an_error() -> None:
    knobs.compilation.plugins = "no_such_plugin, "
    with pytest.raises(PluginError, match="the plugin no_such_plugin cannot be imported: ModuleNotFoundError"):
        fill[(1,)](np.zeros(16, np.int32), 16)


@pass_on("module")
def fails(module):
    raise ZeroDivisionError("in the plugin")


def test_a_pass_that_fails_is_named(tmp_path) -> None:
    insert_pass(fails, "ttir", after="cse")
    knobs.compilation.crash_path = str(tmp_path / "crash.mlir")
    with pytest.raises(Exception, match="fails.*in the plugin"):
        compile(source(), CPU)


# -- the command line, and the language -------------------------------------------------------------------------------


def opt(tmp_path, *arguments, **environment):
    (tmp_path / "f.mlir").write_text("tt.func @f() {\n  tt.return\n}\n")
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}", **environment}
    command = [sys.executable, "-m", "tritium", "opt", "f.mlir", *arguments]
    return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)


def test_the_command_line_has_plugins(tmp_path) -> None:
    write(tmp_path, "marker", PLUGIN.format(text="here"))
    for arguments, environment in ((("--load-plugin", "marker"), {}), ((), {"TRITIUM_PLUGINS": "marker"})):
        done = opt(tmp_path, *arguments, "--passes", "mark-it", **environment)
        assert done.returncode == 0 and 'mine = "here"' in done.stdout, done.stderr
    done = opt(tmp_path, "--passes", "cse", TRITIUM_PLUGINS="odd")
    assert done.returncode == 1 and "the plugin odd cannot be imported" in done.stderr
    assert "Traceback" not in done.stderr


def test_functions_of_the_language_count_with_their_file(tmp_path) -> None:
    keys = []
    for number in (1, 2):
        write(
            tmp_path,
            "mine",
            f"""
            from tritium.plugins import builtin

            @builtin
            def number(_semantic=None):
                return _semantic.to_tensor({number})
            """,
        )
        sys.modules.pop("mine", None)
        sys.path_importer_cache.clear()
        import importlib

        mine = importlib.import_module("mine") if number == 1 else importlib.reload(importlib.import_module("mine"))
        keys.append(mine.number.cache_key)
    assert keys[0] != keys[1] and all(key.startswith("mine.number:") for key in keys)
    assert tl.load.cache_key == f"{tl.load.__module__}.load"  # ours change with the package
    assert plugins.builtin is tl.core.builtin

"""Pipelines as text: what is read prints as it was, mistakes are shown at their place; passes by name."""

from __future__ import annotations

import enum
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tritium.transforms  # noqa: F401
from tritium.ir import (
    PASSES,
    Nest,
    Pass,
    PassError,
    PassManager,
    PipelineError,
    count,
    parse_module,
    parse_pipeline,
    pass_on,
)
from tritium.ir.passes.options import OptionProblem, options_text, parse_options
from tritium.ir.passes.registry import PassRegistry, UnknownPass
from tritium.ir.passes.text import print_pipeline, read_pipeline
from tritium.support import InternalError, TritiumError

MODULE = """
tt.func public @f(%o: !tt.ptr<i32>, %x: i32) {
  %a = arith.muli %x, %x : i32
  %b = arith.muli %x, %x : i32
  %c = arith.addi %a, %b : i32
  %dead = arith.addi %c, %b : i32
  tt.store %o, %c : !tt.ptr<i32>
  tt.return
}
"""


class Kind(enum.Enum):
    NORMAL = "normal"
    AGGRESSIVE = "aggressive"


@dataclass(frozen=True)
class Options:
    """All kinds of options."""

    SAME: ClassVar[dict[str, str]] = {"test-convergence": "it always converges"}
    max_iterations: int = 10
    top_down: bool = True
    kind: Kind = Kind.NORMAL
    names: tuple[str, ...] = ()
    ratio: float = 0.5


seen: list[object] = []


@pass_on("function", options=Options)
def with_options(func, options):
    """Remember the options."""
    seen.append(options)
    return False


@pass_on("module")
def on_modules(module):
    """Do nothing
    to a module.

    More about it.
    """
    return False


@pytest.fixture
def registry():
    made = PassRegistry()
    made.add(with_options)
    made.add(on_modules)
    return made


@pytest.mark.parametrize(
    "text",
    [
        "builtin.module(inliner,tt.func(canonicalize{max-iterations=10 top-down=true},cse),symbol-dce)",
        "canonicalize,cse",
        "any(cse)",
        "builtin.module()",
        "builtin.module(any(cse,dce),tt.func(tt.func(licm)))",
        "x{a={b=c d=e} f='g, h}' i=\"(\" j}",
        # as Triton 3.9 and 3.7 write them
        "any(inline{default-pipeline=canonicalize inlining-threshold=4294967295 max-iterations=4},cse,symbol-dce)",
        "builtin.module(any(convert-index-to-llvm{index-bitwidth=0},convert-triton-gpu-to-llvm{compute-capability=90}))",
    ],
)
def test_what_is_read_prints_as_it_was(text):
    assert print_pipeline(read_pipeline(text)) == text


def test_blanks_do_not_matter():
    text = " builtin.module ( cse ,\n  canonicalize {  max-iterations=10   top-down=true }\n) "
    assert print_pipeline(read_pipeline(text)) == "builtin.module(cse,canonicalize{max-iterations=10 top-down=true})"
    assert read_pipeline(" \n ") == []


names = st.from_regex(r"[a-z][a-z0-9\-]{0,8}", fullmatch=True)
options = st.lists(st.tuples(names, st.from_regex(r"[a-z0-9,]{1,5}|\{[a-z ]*\}", fullmatch=True)), max_size=3)
passes = st.builds(lambda n, o: n + ("{" + " ".join(f"{k}={v}" for k, v in o) + "}" if o else ""), names, options)
pipelines = st.recursive(passes, lambda inner: st.builds(lambda a, rows: f"{a}({','.join(rows)})", names, st.lists(inner, max_size=3)))  # fmt: skip


@given(st.lists(pipelines, min_size=1, max_size=4).map(",".join))
def test_any_pipeline_prints_as_it_was(text):
    assert print_pipeline(read_pipeline(text)) == text


@given(st.text(alphabet="ab-.(){}[]=,' \n\"1", max_size=40))
def test_any_text_is_read_or_refused_with_a_place(text):
    try:
        assert read_pipeline(print_pipeline(read_pipeline(text))) is not None
    except PipelineError as error:
        assert 1 <= error.diagnostic.line <= text.count("\n") + 1
        assert error.diagnostic.column >= 1


@pytest.mark.parametrize(
    "text, caret, message",
    [
        ("cse,,dce", "    ^", "expected the name of a pass, found ','"),
        ("cse,", "    ^", "expected the name of a pass, found the end of the pipeline"),
        ("builtin.module(cse", "              ^", "this bracket is never closed"),
        ("builtin.module(cse dce)", "                   ^", "expected ',' or ')', found 'd'"),
        ("cse)", "   ^", "this bracket closes nothing"),
        ("cse dce", "    ^", "expected ',', found 'd'"),
        ("a{b=(c}", "    ^", "this bracket or quote is never closed"),
        ("a{b=c", " ^", "this bracket is never closed"),
        ("a{=c}", "  ^", "expected an option, found '='"),
        ("cse,canonicalise", "    ^^^^^^^^^^^^", "there is no pass 'canonicalise'"),
        ("builtin.modul(cse)", "^^^^^^^^^^^^^", "there is no operation 'builtin.modul'"),
        ("cse(dce)", "^^^", "pass takes no rows in brackets: 'cse'"),
        ("builtin.module(tt.func(cse,inliner))", "                           ^^^^^^^", "'inliner' runs on a module, not on tt.func"),
        ("dce{x=1}", "    ^", "there is no option 'x' of 'dce'"),
    ],
)  # fmt: skip
def test_mistakes_are_shown_at_their_place(text, caret, message):
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text)
    lines = str(caught.value).split("\n")
    assert lines[0].endswith(f"error: {message}")
    assert lines[1] == f"    1 | {text}"
    assert lines[2] == f"      | {caret}"


def test_nesting_has_a_bound():
    with pytest.raises(PipelineError, match="nested too deeply"):
        read_pipeline("any(" * 10_000 + ")" * 10_000)


@pytest.mark.parametrize(
    "text, message",
    [
        ("with-options{max-iteration=3}", "there is no option 'max-iteration' of 'with-options'"),
        ("with-options{max-iterations=many}", "option 'max-iterations' is an integer, not 'many'"),
        ("with-options{max-iterations}", "option 'max-iterations' needs a value: max-iterations=an integer"),
        ("with-options{top-down=perhaps}", "option 'top-down' is true or false, not 'perhaps'"),
        ("with-options{kind=norml}", "option 'kind' is normal or aggressive, not 'norml'"),
        ("with-options{ratio=x}", "option 'ratio' is a number, not 'x'"),
    ],
)
def test_mistakes_in_options(registry, text, message):
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text, registry)
    assert message in str(caught.value)


def test_hints(registry):
    with pytest.raises(PipelineError, match="did you mean 'max-iterations'"):
        parse_pipeline("with-options{max-iteration=3}", registry)
    with pytest.raises(PipelineError, match="did you mean 'normal'"):
        parse_pipeline("with-options{kind=norml}", registry)
    with pytest.raises(PipelineError, match="did you mean 'canonicalize'"):
        parse_pipeline("canonicalise")


def test_options_reach_the_pass(registry):
    seen.clear()
    text = "with-options{max-iterations=3 top-down=false kind=aggressive names={a,b} ratio=2 test-convergence=true}"
    pm = PassManager(text, registry=registry)
    assert str(pm) == f"builtin.module({text})"
    pm.run(parse_module(MODULE))
    assert seen == [Options(3, False, Kind.AGGRESSIVE, ("a", "b"), 2.0)]
    assert options_text(seen[0]) == "{max-iterations=3 top-down=false kind=aggressive names=a,b ratio=2.0}"
    assert options_text(Options()) == ""
    assert parse_options(Options, [("top-down", None)]) == Options()
    with pytest.raises(OptionProblem):
        parse_options(None, [("a", "1")])


def test_a_pass_says_what_it_is(registry):
    info = registry.lookup("on-modules")
    assert (info.level, info.summary, info.options, info.option_names) == (
        "module",
        "Do nothing to a module.",
        None,
        [],
    )
    assert registry.lookup("with-options").option_names == ["max-iterations", "top-down", "kind", "names", "ratio"]
    assert [i.name for i in registry.all()] == ["on-modules", "with-options"]


def test_names_are_taken_once(registry):
    @pass_on("module", name="on-modules")
    def other(module): ...

    assert registry.add(other).fn is other  # the same file: written anew
    other.__module__ = "elsewhere"
    again = pass_on("module", name="on-modules")(lambda module: None)
    with pytest.raises(InternalError, match="there is a pass 'on-modules' already, in elsewhere"):
        registry.add(again)
    with pytest.raises(InternalError, match="is no pass"):
        registry.add(lambda module: None)


@pytest.mark.parametrize(
    "spelling, name",
    [
        ("inline", "inliner"), ("inliner", "inliner"), ("triton-combine", "combine"), ("canonicalize", "canonicalize"),
        ("triton-reorder-broadcast", "reorder-broadcast"), ("triton-licm", "licm"), ("cse", "cse"),
        ("loop-invariant-code-motion", "licm"), ("triton-loop-unroll", "loop-unroll"), ("symbol-dce", "symbol-dce"),
        ("triton-rewrite-tensor-descriptor-to-pointer", "rewrite-tensor-descriptor-to-pointer"),
        ("triton-rewrite-tensor-pointer", "rewrite-tensor-pointer"),
    ],
)  # fmt: skip
def test_the_names_that_mlir_and_triton_use(spelling, name):
    assert PASSES.lookup(spelling).name == name
    assert str(PassManager(spelling)) == f"builtin.module({spelling})"


def test_unknown_passes():
    with pytest.raises(UnknownPass, match="there is no pass 'triton-combin'; did you mean 'triton-combine'?"):
        PASSES.lookup("triton-combin")
    assert PASSES.find("ttir") is None  # a file of that room, but no pass


def test_every_pass_has_one_line_about_it():
    infos = PASSES.all()
    assert {"cse", "dce", "canonicalize", "inliner"} <= {i.name for i in infos}
    for info in infos:
        assert info.summary and len(info.summary) < 160, info.name
        assert PASSES.lookup(info.name) is info


def test_a_pass_manager_in_five_lines():
    module = parse_module(MODULE)
    pm = PassManager()
    pm.add("cse", "dce")
    report = pm.run(module)
    assert str(module).count("arith") == 2
    assert report.changed
    assert str(pm) == "builtin.module(cse,dce)"


def test_pass_managers_nest_and_take_functions_and_rows(registry):
    seen.clear()
    pm = PassManager(registry=registry)
    pm.add(on_modules).nest("tt.func").add(with_options, Pass("again", with_options, "", Options(1)))
    assert str(pm) == "builtin.module(on-modules,tt.func(with-options,again{max-iterations=1}))"
    pm.run(parse_module(MODULE))
    assert seen == [Options(), Options(1)]
    pm = PassManager([Nest("tt.func", [Pass("o", with_options, "", Options())])])
    assert str(pm) == "builtin.module(tt.func(o))"


def test_what_a_pass_manager_shows(capfd, tmp_path):
    def shown(pm):
        pm.run(parse_module(MODULE))
        return capfd.readouterr().err

    assert shown(PassManager.parse("builtin.module(cse,dce)")) == ""
    assert "IR Dump After CSEPass" in shown(PassManager("cse,licm").enable_ir_printing())
    assert "-  %b" in shown(PassManager("cse").enable_ir_printing("change:cse,diff,function:f"))
    assert "100.0%)  Total" in shown(PassManager("cse").enable_timing())
    assert shown(PassManager("cse").enable_statistics()) == "cse: operations merged: 1\n"
    assert shown(PassManager("cse").enable_statistics().enable_timing(False)) == "cse: operations merged: 1\n"
    path = tmp_path / "crash.mlir"
    pm = PassManager(["cse", broken], verify=False).enable_reproducer(str(path))
    with pytest.raises(PassError):
        pm.enable_verifier().run(parse_module(MODULE))
    assert 'pipeline: "builtin.module(broken)"' in path.read_text()
    shown(pm.enable_verifier(False))
    with pytest.raises(ValueError, match="not 'chnge'"):
        PassManager("cse").enable_ir_printing("chnge")


def broken(module):
    """Use a value of another function's."""
    ops = {op.name: op for op in module.walk()}
    ops["arith.addi"].operands[0] = ops["tt.store"].operands[0]


def test_a_registry_without_passes_says_where_they_are():
    with pytest.raises(UnknownPass, match="import tritium.transforms"):
        PassRegistry().lookup("cse")


def test_threads_count_for_themselves():
    together = threading.Barrier(2)

    def counted(n):
        @pass_on("module", name=f"counts-{n}")
        def counts(module):
            together.wait(10)
            count("things", n)
            together.wait(10)

        return PassManager([Pass("counts", counts)]).run(parse_module(MODULE)).runs[0].counts

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(counted, [3, 4])) == [{"things": 3}, {"things": 4}]


def test_anchors():
    module = parse_module(MODULE)
    assert str(PassManager("any(cse)")) == "any(cse)"
    PassManager("any(cse)").run(module)
    assert str(module).count("muli") == 1
    func = module.regions[0].blocks[0].first
    PassManager("dce", anchor="tt.func").run(func)
    assert str(module).count("arith") == 2
    with pytest.raises(TritiumError, match=r"a pipeline on tt.func cannot run on builtin.module"):
        PassManager("dce", anchor="tt.func").run(module)
    with pytest.raises(PipelineError, match="'inliner' runs on a module, not on tt.func"):
        PassManager("inliner", anchor="tt.func")


FUNCTION = """
tt.func @f(%p: i1, %x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  cf.cond_br %p, ^a, ^b
^a:
  %s = arith.addi %x, %zero : i32
  %t = arith.addi %s, %zero : i32
  cf.br ^c
^c:
  %u = arith.muli %t, %x : i32
  %v = arith.muli %t, %x : i32
  %w = arith.addi %u, %v : i32
  tt.return %w : i32
^b:
  tt.return %x : i32
}
"""


def canonical(options):
    module = parse_module(FUNCTION)
    PassManager(f"canonicalize{options}").run(module)
    return str(module)


def test_options_of_canonicalize():
    whole = canonical("")
    assert whole.count("addi") == 1 and whole.count("muli") == 2 and "cf.br ^" not in whole
    assert (
        canonical("{max-iterations=10 max-num-rewrites=-1 region-simplify=normal test-convergence=false top-down=true}")
        == whole
    )
    assert canonical("{top-down=false region-simplify=aggressive}") == whole
    assert "cf.br ^" in canonical("{region-simplify=disabled}")
    assert canonical("{max-num-rewrites=1}").count("addi") == 2
    assert canonical("{max-num-rewrites=0}").count("addi") == 3
    assert canonical("{max-iterations=0}").count("addi") == 3
    assert canonical("{cse-between-iterations=true}").count("muli") == 1
    with pytest.raises(InternalError, match="no convergence after 0 iterations"):
        canonical("{max-iterations=0 test-convergence=true}")
    with pytest.raises(PipelineError, match="is normal or aggressive or disabled, not 'some'"):
        canonical("{region-simplify=some}")


def test_a_pipeline_as_triton_writes_it():
    text = (
        "any(inline{default-pipeline=canonicalize inlining-threshold=4294967295 max-iterations=4 },"
        "canonicalize{cse-between-iterations=false    max-iterations=10 max-num-rewrites=-1 region-simplify=normal "
        "test-convergence=false top-down=true},triton-combine,triton-reorder-broadcast,cse,symbol-dce,triton-loop-unroll)"
    )
    module = parse_module(MODULE)
    PassManager(text).run(module)
    assert str(module).count("arith") == 2

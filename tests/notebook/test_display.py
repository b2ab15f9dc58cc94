"""What objects show in notebooks: HTML with all that they say, and text."""

from __future__ import annotations

import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest

import tritium
import tritium.dialects.all  # noqa: F401
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget
from tritium.dialects.ttg_maps import linear_layout
from tritium.experimental.gluon import language as gl
from tritium.ir import parse_attribute, parse_module
from tritium.notebook.html import code
from tritium.notebook.layouts import tile_of

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>"


@tritium.jit
def scale(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.load(x + at) * 2)


class Balance(HTMLParser):
    """Tags that are still open, and the text of all."""

    VOID = frozenset(("rect", "br"))

    def __init__(self, html: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)
        assert not self.opened, self.opened

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag not in self.VOID:
            self.opened.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(value: object) -> Balance:
    """The parsed HTML of a value; nothing in it runs or is fetched."""
    bundle = value._repr_mimebundle_(include=None, exclude=None)  # type: ignore[attr-defined]
    assert bundle["text/plain"]
    found = Balance(bundle["text/html"])
    assert not found.tags & {"script", "link", "img", "iframe"}
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", bundle["text/html"])
    return found


def compiled(target: GPUTarget) -> tritium.compiler.CompiledKernel:
    source = ASTSource(scale, {"x": "*fp32", "y": "*fp32"}, {"N": 1024})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tritium.compile(source, target=target)


@pytest.mark.parametrize("target", [GPUTarget("cpu", "", 1), GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)])
def test_a_kernel_shows_the_text_of_every_stage(target: GPUTarget) -> None:
    kernel = compiled(target)
    found = shown(kernel)
    for name, text in kernel.asm.items():
        assert f"{name}: " in found.text
        assert isinstance(text, bytes) or str(text).strip() in found.text


@pytest.mark.parametrize("target", [GPUTarget("cpu", "", 1), GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)])
def test_an_inspection_shows_its_tables(target: GPUTarget) -> None:
    kernel = compiled(target)
    text = shown(kernel.inspect()).text
    assert text.strip().splitlines()[-1] and "scale" in text and "table" in shown(kernel.inspect()).tags


def test_a_module_shows_its_text_and_counts() -> None:
    module = parse_module("tt.func @f(%x: tensor<4xf32>) { %y = arith.addf %x, %x : tensor<4xf32>\n tt.return }")
    found = shown(module)
    assert str(module).strip() in found.text and "operations" in found.text and "arith.addf" in found.text


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        (BLOCKED, (8, 16)),
        (f"#ttg.slice<{{dim = 0, parent = {BLOCKED}}}>", (16,)),
        ("#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [16, 8]}>", (32, 8)),
        ("#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>", (8, 32)),
        ("#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>", (8, 64)),
    ],
)
def test_a_layout_draws_every_element_of_a_tile(layout: str, shape: tuple[int, ...]) -> None:
    attribute = parse_attribute(layout)
    assert tile_of(attribute) == shape
    html = attribute._repr_mimebundle_()["text/html"]
    assert html.count("<title>") == np.prod(shape)
    shown(attribute)


def test_a_tile_holds_no_element_twice_in_a_thread_and_leaves_none_out() -> None:
    attribute = parse_attribute(BLOCKED)
    layout = linear_layout(attribute, tile_of(attribute))
    assert np.prod(list(layout.ins.values())) == np.prod(tile_of(attribute))


@pytest.mark.parametrize(
    "layout", [gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]), gl.SwizzledSharedLayout(8, 1, 8, [1, 0])], ids=repr
)
def test_layouts_of_gluon_are_drawn(layout: object) -> None:
    assert "svg" in shown(layout).tags


def test_a_layout_to_be_chosen_says_that_it_is_not_drawn() -> None:
    assert "not drawn" in shown(gl.AutoLayout()).text


def test_a_linear_map_is_drawn() -> None:
    assert "svg" in shown(linear_layout(parse_attribute(BLOCKED), (8, 16))).tags


def test_autotuning_shows_configurations_by_time() -> None:
    configs = [tritium.Config({"N": n}) for n in (64, 128, 256)]
    tuner = tritium.autotune(configs, key=[], do_bench=lambda call, quantiles: [0.1, 0.1, 0.1])(scale)
    assert "not tuned yet" in shown(tuner).text
    tuner.configs_timings = {configs[0]: [0.003, 0, 0], configs[1]: [0.001, 0, 0], configs[2]: [float("inf")] * 3}
    tuner.best_config = configs[1]
    text = shown(tuner).text
    assert text.index("N: 128") < text.index("N: 64") < text.index("N: 256")
    assert "1.0" in text and "best" in text and "does not fit" in text


def test_text_is_escaped() -> None:
    assert code('%x = "a.b"() {name = "<script>"}').count("<script>") == 0

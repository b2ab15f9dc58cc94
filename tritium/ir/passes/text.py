"""Pipelines as text, spelt as MLIR spells them.

    pipeline  =  row {"," row}
    row       =  name ["{" option {blank option} "}"]  |  anchor "(" [pipeline] ")"
    option    =  key  |  key "=" value              a value may hold blanks inside brackets or quotes

`builtin.module(cse,tt.func(canonicalize{max-iterations=3},dce),symbol-dce)` says with the anchor around it what it runs
on; a plain `cse,dce`, and one in `any(...)`, run on a module too. Reading goes in two steps: `read_pipeline` makes
nodes, which know their places in the text and print as they were written, blanks aside; `parse_pipeline` finds the
passes they name. A mistake is a `PipelineError` that points at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...support import Diagnostic, TritiumError
from ...support.dataclasses import dataclass
from ...support.suggestions import did_you_mean
from ..definition import OPS
from .definition import ANY, Nest, Pass, Row
from .options import OptionProblem
from .registry import PASSES, PassRegistry, UnknownPass

__all__ = [
    "MODULE",
    "NestNode",
    "PassNode",
    "PipelineError",
    "anchored_pipeline",
    "parse_pipeline",
    "print_pipeline",
    "read_pipeline",
    "resolve_text",
]

MODULE = "builtin.module"
DEEPEST = 100  # anchors inside each other; IR is never nested so deeply, and Python's stack ends soon after it

_blank = re.compile(r"\s*")
_name = re.compile(r"[A-Za-z_][\w.\-]*")
_key = re.compile(r"[^\s={}()\[\]'\",]+")
_PAIRS = {"{": "}", "(": ")", "[": "]"}
_QUOTES = "'\""


class PipelineError(TritiumError):
    """A pipeline's text that means nothing; `diagnostic` points at the place."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.render())
        self.diagnostic = diagnostic


@dataclass(frozen=True)
class Option:
    """`key=value` as written, with the places of both; the value is None when there is a key alone."""

    key: str
    value: str | None
    at: int
    value_at: int


@dataclass(frozen=True)
class PassNode:
    """A pass as written."""

    name: str
    options: tuple[Option, ...]
    at: int

    def __str__(self) -> str:
        told = " ".join(o.key if o.value is None else f"{o.key}={o.value}" for o in self.options)
        return f"{self.name}{{{told}}}" if told else self.name


@dataclass(frozen=True)
class NestNode:
    """An anchor and what stands in its brackets."""

    anchor: str
    nodes: tuple[Node, ...]
    at: int

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.nodes))})"


Node = PassNode | NestNode


class _Reader:
    """A place in a pipeline's text."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source
        self.pos = 0
        self.open: list[int] = []

    def error(self, message: str, at: int, hint: str = "", length: int = 1) -> PipelineError:
        before = self.text[:at]
        line, column = before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
        lines = self.text.split("\n")
        return PipelineError(Diagnostic(message, self.source, line, column, lines, hint, length=length))

    def skip(self) -> str:
        """Step over blanks; the character that follows, or nothing."""
        self.pos = _blank.match(self.text, self.pos).end()  # type: ignore[union-attr]
        return self.text[self.pos : self.pos + 1]

    def found(self) -> str:
        return f"'{self.text[self.pos]}'" if self.pos < len(self.text) else "the end of the pipeline"

    def rows(self) -> list[Node]:
        nodes = [self.row()]
        while self.skip() == ",":
            self.pos += 1
            nodes.append(self.row())
        return nodes

    def row(self) -> Node:
        self.skip()
        at = self.pos
        m = _name.match(self.text, at)
        if m is None:
            raise self.error(f"expected the name of a pass, found {self.found()}", at)
        self.pos = m.end()
        following = self.skip()
        if following == "(":
            return self.nest(m[0], at)
        return PassNode(m[0], self.options() if following == "{" else (), at)

    def nest(self, anchor: str, at: int) -> NestNode:
        opened = self.pos
        if len(self.open) == DEEPEST:
            raise self.error("this is nested too deeply", at)
        self.open.append(opened)
        self.pos += 1
        nodes = [] if self.skip() == ")" else self.rows()
        if self.skip() != ")":
            if self.pos == len(self.text):
                raise self.error("this bracket is never closed", opened)
            raise self.error(f"expected ',' or ')', found {self.found()}", self.pos)
        self.pos += 1
        self.open.pop()
        return NestNode(anchor, tuple(nodes), at)

    def options(self) -> tuple[Option, ...]:
        opened = self.pos
        self.pos += 1
        out: list[Option] = []
        while (ch := self.skip()) != "}":
            if not ch:
                raise self.error("this bracket is never closed", opened)
            out.append(self.option())
        self.pos += 1
        return tuple(out)

    def option(self) -> Option:
        at = self.pos
        m = _key.match(self.text, at)
        if m is None:
            raise self.error(f"expected an option, found {self.found()}", at)
        self.pos = m.end()
        if self.text[self.pos : self.pos + 1] != "=":
            return Option(m[0], None, at, at)
        self.pos += 1
        value_at = self.pos
        return Option(m[0], self.value(), at, value_at)

    def value(self) -> str:
        """Up to a blank or the closing bracket; brackets and quotes inside are whole."""
        text, start = self.text, self.pos
        closing: list[tuple[str, int]] = []
        while self.pos < len(text):
            ch = text[self.pos]
            if closing and ch == closing[-1][0]:
                closing.pop()
            elif closing and closing[-1][0] in _QUOTES:
                pass
            elif ch in _QUOTES or ch in _PAIRS:
                closing.append((_PAIRS.get(ch, ch), self.pos))
            elif not closing and (ch.isspace() or ch == "}"):
                break
            self.pos += 1
        if closing:
            raise self.error("this bracket or quote is never closed", closing[-1][1])
        return text[start : self.pos]


def read_pipeline(text: str, source: str = "pipeline") -> list[Node]:
    """The nodes that `text` says, without looking at what they name; `source` is how errors call the text."""
    reader = _Reader(text, source)
    if not reader.skip():
        return []
    nodes = reader.rows()
    if reader.skip():
        what = "this bracket closes nothing" if reader.skip() in ")}]" else f"expected ',', found {reader.found()}"
        raise reader.error(what, reader.pos)
    return nodes


def print_pipeline(rows: Iterable[Row | Node]) -> str:
    """The text of a pipeline."""
    return ",".join(map(str, rows))


def _resolve(nodes: Sequence[Node], reader: _Reader, registry: PassRegistry, inside: str = MODULE) -> list[Row]:
    """The rows that nodes name, for a pipeline on an operation of the name `inside`."""
    rows: list[Row] = []
    for node in nodes:
        if isinstance(node, NestNode):
            rows.append(_nest(node, reader, registry, inside))
        elif node.name in registry.pipelines and not node.options:
            rows.extend(_named(node, reader, registry, inside))
        else:
            rows.append(_pass(node, reader, registry, inside))
    return rows


def _named(node: PassNode, reader: _Reader, registry: PassRegistry, inside: str) -> Sequence[Row]:
    if inside not in (MODULE, ANY):
        hint = f"write it outside of {inside}(...)"
        raise reader.error(f"'{node.name}' runs on a module, not on {inside}", node.at, hint, len(node.name))
    return registry.pipelines[node.name].rows()


def _pass(node: PassNode, reader: _Reader, registry: PassRegistry, inside: str) -> Pass:
    try:
        info = registry.lookup(node.name)
    except UnknownPass as unknown:
        raise reader.error(unknown.message, node.at, unknown.hint, len(node.name)) from None
    if info.level == "module" and inside not in (MODULE, ANY):
        hint = f"write it outside of {inside}(...)"
        raise reader.error(f"'{node.name}' runs on a module, not on {inside}", node.at, hint, len(node.name))
    try:
        return info.row([(o.key, o.value) for o in node.options], written=str(node))
    except OptionProblem as problem:
        option = next(o for o in node.options if o.key == problem.key)
        at, shown = (option.value_at, option.value) if problem.at_value else (option.at, option.key)
        message = f"{problem} of '{node.name}'" if not problem.at_value else f"{problem}"
        raise reader.error(message, at, problem.hint, len(shown or " ")) from None


def _nest(node: NestNode, reader: _Reader, registry: PassRegistry, inside: str) -> Nest:
    if node.anchor != ANY and node.anchor not in OPS:
        hint = did_you_mean(node.anchor, [*OPS, ANY])
        what = "pass takes no rows in brackets" if registry.find(node.anchor) else "there is no operation"
        message = f"{what}: '{node.anchor}'" if "pass" in what else f"{what} '{node.anchor}'"
        raise reader.error(message, node.at, "" if "pass" in what else hint, len(node.anchor))
    return Nest(node.anchor, _resolve(node.nodes, reader, registry, node.anchor))


def resolve_text(text: str, registry: PassRegistry, inside: str) -> list[Row]:
    """The rows that `text` says, for a place inside of `inside(...)`: every anchor in it is a nest."""
    return _resolve(read_pipeline(text), _Reader(text, "pipeline"), registry, inside)


def parse_pipeline(
    text: str, registry: PassRegistry = PASSES, source: str = "pipeline", anchor: str = MODULE
) -> list[Row]:
    """The rows that `text` says for a pipeline on `anchor`; an anchor around all of it is checked and taken off."""
    return anchored_pipeline(text, registry, source, anchor)[1]


def anchored_pipeline(
    text: str, registry: PassRegistry = PASSES, source: str = "pipeline", anchor: str = MODULE
) -> tuple[str, list[Row]]:
    """What a pipeline's text runs on (`anchor` where it does not say, or "any"), and its rows."""
    reader = _Reader(text, source)
    nodes = read_pipeline(text, source)
    if len(nodes) == 1 and isinstance(nodes[0], NestNode) and nodes[0].anchor in (anchor, ANY):
        return nodes[0].anchor, _resolve(nodes[0].nodes, reader, registry, anchor)
    return anchor, _resolve(nodes, reader, registry, anchor)

"""`triton._C.libtriton.ir`: a kernel's module as programs walk it that ask which arrays a kernel writes."""

from __future__ import annotations

import tritium
import tritium.language as tl
from tritium._C.libtriton import ir
from tritium.compiler import ASTSource, GPUTarget, make_backend


@tritium.jit(noinline=True)
def _write(where, value):
    tl.store(where, value)


@tritium.jit
def _kernel(x, y, n, BLOCK: tl.constexpr):
    for i in range(n):
        value = tl.load(x + i * BLOCK + tl.arange(0, BLOCK))
        _write(y + i * BLOCK + tl.arange(0, BLOCK), value)


def _module():
    source = ASTSource(_kernel, {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 16})
    backend = make_backend(GPUTarget("cpu", "x86-64-v3", 1))
    context = ir.context()
    ir.load_dialects(context)
    options = backend.parse_options({})
    return source.make_ir(backend.target, options, {}, {}, context)


def test_walk_visits_the_kernel_first_and_nested_operations_before_parents() -> None:
    module = _module()
    names = []
    module.walk(lambda op: names.append(op.get_name()))
    kernel = names.index("tt.func")
    assert names[-1] == "builtin.module" and names.count("tt.func") == 2
    assert names.index("tt.load") < names.index("scf.for") < kernel < names.index("tt.store")
    assert module.verify() and "tt.func public @_kernel" in str(module)


def test_values_blocks_and_attributes() -> None:
    module, seen = _module(), {}
    module.walk(lambda op: seen.setdefault(op.get_name(), op))
    call, load, loop, function = (seen[name] for name in ("tt.call", "tt.load", "scf.for", "tt.func"))
    assert call.get_flat_symbol_ref_attr("callee") != function.get_str_attr("sym_name") == "_kernel"
    operands = [call.get_operand(i).id() for i in range(call.get_num_operands())]
    assert load.get_num_results() == 1 and load.get_result(0).id() in operands
    block = load.get_block()
    assert block.id() == call.get_block().id() and block == call.get_block()
    assert block.get_num_arguments() >= 1 and block.get_parent().id() == loop.get_region(0).id()
    assert function.get_region(0).get_block(0).get_num_arguments() == 3
    assert function.get_region(0).get_block(0).get_argument(0).get_type() == "!tt.ptr<f32>"
    assert load.get_str_attr("nothing") is None and load.get_bool_attr("nothing") is None
    assert load.get_bool_attr("isVolatile") in (None, False) and module.get_block() is None

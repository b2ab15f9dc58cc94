"""Prints what the bindings tell of the module in a file, as JSON: run with Triton's wheel, and with this package."""

from __future__ import annotations

import json
import sys

if sys.argv[1] == "ours":
    import tritium

    tritium.install()

from triton._C.libtriton import ir, nvidia, passes

context = ir.context()
ir.load_dialects(context)
nvidia.load_dialects(context)
module = ir.parse_mlir_module(sys.argv[2], context)
told = []


def value(v):
    return [str(v.get_type()), v.get_shape()]


def visit(op):
    name = op.get_name()
    row = [name, op.get_num_operands(), op.get_num_results(), op.get_num_regions()]
    row += [[value(op.get_operand(i)) for i in range(op.get_num_operands())]]
    row += [[value(op.get_result(i)) for i in range(op.get_num_results())], op.get_constant_value()]
    row += [op.get_str_attr("sym_name"), op.get_flat_symbol_ref_attr("callee"), op.get_bool_attr("noinline")]
    row += [op.get_int_attr("tt.num_stages"), [op.get_region(i).size() for i in range(op.get_num_regions())]]
    block = op.get_block() if name not in ("builtin.module",) else None
    if block is not None:
        row += [block.get_num_arguments(), block.get_parent().size(), block.has_terminator(), block.has_return()]
        uses = [op.get_operand(i).id() == block.get_argument(0).id() for i in range(op.get_num_operands())]
        row += [uses if block.get_num_arguments() else None]
    told.append(row)


def describe():
    kernel = module.get_function(module.get_entry_func_name())
    types = [kernel.args(i).get_type() for i in range(kernel.get_num_args())]
    told.append([module.get_entry_func_name(), module.get_function_signature(kernel), kernel.get_num_args()])
    told.append(
        [[str(ty) for ty in kernel.type.param_types()], [str(ty) for ty in types], [ty.is_integer(32) for ty in types]]
    )
    told.append([module.has_function("helper"), module.has_function("nothing"), module.verify()])
    told.append([module.get_int_attr(name) for name in ("ttg.num-warps", "ttg.num-ctas", "ttg.nothing")])
    module.walk(visit)


describe()
kernel = module.get_function(module.get_entry_func_name())
kernel.set_arg_attr(0, "tt.divisibility", 16)
module.set_attr("ttg.maxnreg", ir.builder(context).get_int32_attr(64))
manager = ir.pass_manager(context)
manager.enable_debug()
passes.common.add_inliner(manager)
passes.common.add_symbol_dce(manager)
passes.common.add_cse(manager)
passes.ttir.add_convert_to_ttgpuir(manager, "cuda:80", 4, 32, 1)
manager.run(module, "make_ttgir")
told.append([module.get_int_attr("ttg.maxnreg"), "tt.divisibility = 16 : i32" in module.str_nodebug()])
before = len(told)
describe()
after = sorted(told[before:], key=repr)  # where constants stand is canonicalization's to choose
print(json.dumps(told[:before] + after))

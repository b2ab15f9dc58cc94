"""Symbol tables: lookup through scopes, insertion with names made unique, uses, renaming."""

from __future__ import annotations

import pytest

from tritium.dialects import tt
from tritium.ir import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    SymbolRefAttr,
    SymbolTable,
    is_private,
    lookup_symbol,
    nearest_symbol_table,
    parse_module,
    symbol_of,
    uses_of,
    verify,
)
from tritium.support import InternalError

TEXT = """
module {
  tt.func private @f(%x: i32) -> i32 {
    tt.return %x : i32
  }
  tt.func public @g(%x: i32) -> i32 {
    %a = tt.call @f(%x) : (i32) -> i32
    %b = tt.call @f(%a) : (i32) -> i32
    tt.return %b : i32
  }
}
"""
NESTED = """
module {
  tt.func private @f() {
    tt.return
  }
  module @inner {
    tt.func private @f() {
      tt.return
    }
    tt.func public @h() {
      tt.call @f() : () -> ()
      tt.return
    }
  }
  module @other {
    tt.func public @h() {
      tt.call @f() : () -> ()
      tt.return
    }
  }
}
"""


def calls(module):
    return [op for op in module.walk() if isinstance(op, tt.Call)]


def test_lookup():
    module = parse_module(TEXT)
    table = SymbolTable(module)
    assert [symbol_of(op) for op in table] == ["f", "g"] and len(table) == 2
    f, g = table
    assert table.lookup("f") is f and "f" in table and table.lookup("h") is None
    assert is_private(f) and not is_private(g)
    call = calls(module)[0]
    assert lookup_symbol(call, "f") is f and lookup_symbol(call, "nothing") is None
    assert nearest_symbol_table(call) is module is nearest_symbol_table(module)
    assert symbol_of(call) is None and symbol_of(module) is None


def test_only_symbol_tables_hold_symbols():
    module = parse_module(TEXT)
    with pytest.raises(InternalError, match="tt.func holds no symbols"):
        SymbolTable(next(iter(SymbolTable(module))))


def test_uses():
    module = parse_module(TEXT)
    table = SymbolTable(module)
    f, g = table
    assert [(use.op, use.attribute) for use in table.uses(f)] == [(c, "callee") for c in calls(module)]
    assert table.uses(g) == []
    module.attributes["ours"] = SymbolRefAttr("f")  # on the table itself: it speaks of the scope around it
    g.attributes["note"] = ArrayAttr((DictionaryAttr({"a": SymbolRefAttr("f")}), SymbolRefAttr("g")))
    assert [use.attribute for use in table.uses(f)] == ["note", "callee", "callee"]
    assert [use.op for use in table.uses(g)] == [g]


def test_rename_takes_the_references_along():
    module = parse_module(TEXT)
    table = SymbolTable(module)
    f, g = table
    g.attributes["note"] = ArrayAttr((DictionaryAttr({"a": SymbolRefAttr("f")}), SymbolRefAttr("g")))
    table.rename(f, "h")
    assert symbol_of(f) == "h" and table.lookup("h") is f and "f" not in table
    assert {c.callee for c in calls(module)} == {"h"}
    assert str(g.attributes["note"]) == "[{a = @h}, @g]"
    verify(module)
    with pytest.raises(InternalError, match="exists already"):
        table.rename(f, "g")
    table.rename(f, "h")
    assert symbol_of(f) == "h"


def test_insert_makes_names_unique():
    module = parse_module(TEXT)
    table = SymbolTable(module)
    f, g = table
    copy = g.clone()
    copy.attributes["self"] = SymbolRefAttr("g")
    assert table.insert(copy) == "g_0" and symbol_of(copy) == "g_0" and module.body.last is copy
    assert str(copy.attributes["self"]) == "@g_0", "a reference of a function to itself follows"
    assert table.insert(g.clone(), before=f) == "g_1" and symbol_of(module.body.first) == "g_1"
    fresh = tt.Func.build("fresh", FunctionType((), ()), "private")
    assert table.insert(fresh) == "fresh" and table.insert(fresh) == "fresh"
    assert table.unique("g") == "g_2" and table.unique("k") == "k"
    with pytest.raises(InternalError, match=r"tt\.call defines no symbol"):
        table.insert(calls(module)[0])


def test_remove_and_erase():
    module = parse_module(TEXT)
    table = SymbolTable(module)
    f, g = table
    table.remove(g)
    assert g.parent is None and "g" not in table and g.regions[0].blocks
    assert table.insert(g) == "g" and g.parent is module.body
    table.erase(g)
    assert g.parent is None and not table.uses(f)
    with pytest.raises(InternalError, match="not in this table"):
        table.erase(g)


def test_replace_uses():
    module = parse_module(TEXT)
    table = SymbolTable(module)
    f, _ = table
    table.insert(f.clone())
    assert table.replace_uses(f, "f_0") == 2 and not table.uses(f)
    verify(module)


def test_inner_tables_hide_names():
    module = parse_module(NESTED)
    verify(module)
    table = SymbolTable(module)
    outer, inner, other = table.lookup("f"), table.lookup("inner"), table.lookup("other")
    first, second = calls(module)
    hidden = SymbolTable(inner).lookup("f")
    assert lookup_symbol(first, "f") is hidden and lookup_symbol(second, "f") is outer
    assert [use.op for use in table.uses(outer)] == [second]
    assert [use.op for use in uses_of(inner, "f")] == [first]
    assert lookup_symbol(second, ["inner", "f"]) is hidden
    assert lookup_symbol(second, ["inner", "nothing"]) is None and lookup_symbol(second, ["f", "f"]) is None
    table.rename(outer, "k")
    assert (first.callee, second.callee) == ("f", "k")
    verify(module)


def test_a_name_defined_twice_is_no_table():
    module = parse_module(TEXT)
    f, _ = SymbolTable(module)
    module.body.append(f.clone())
    with pytest.raises(InternalError, match="defined twice"):
        SymbolTable(module)

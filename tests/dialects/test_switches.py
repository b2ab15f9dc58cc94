"""`without`: current and former names switch the same thing off, unknown ones are refused."""

from __future__ import annotations

import pytest

from tritium.backends.nvidia.options import CUDAOptions
from tritium.backends.nvidia.target import CUDATarget
from tritium.dialects import ttg_switches
from tritium.dialects.ttg_switches import SWITCHES, WITHOUT, current_names, is_on
from tritium.ir import StringAttr, parse_module
from tritium.support import OptionError


@pytest.mark.parametrize("former", ttg_switches._FORMER)
def test_former_name_switches_off_what_the_current_one_does(former: str) -> None:
    current = ttg_switches._FORMER[former]
    assert current in SWITCHES and former not in SWITCHES
    assert CUDAOptions.parse({"without": f"{former},tma"}, CUDATarget(90)).without == f"{current},tma"
    module = parse_module("module {\n}\n")
    module.attributes[WITHOUT] = StringAttr(former)
    assert not is_on(module, current) and is_on(module, "tma")


def test_unknown_name_is_refused() -> None:
    assert current_names("") == []
    with pytest.raises(OptionError, match="there is no 'tnt'"):
        CUDAOptions.parse({"without": "tma,tnt"}, CUDATarget(90))


@pytest.mark.parametrize("removed", sorted(ttg_switches._REMOVED))
def test_name_of_what_was_removed_is_accepted(removed: str) -> None:
    assert removed not in SWITCHES
    assert CUDAOptions.parse({"without": f"{removed},tma"}, CUDATarget(90)).without == "tma"

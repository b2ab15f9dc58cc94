"""The evidence for the page "what works" is complete, and of tests that there are."""

from __future__ import annotations

import tritium
import tritium.language as tl
from scripts.works.evidence import exists, functions_of, merge, read
from scripts.works.gaps import gaps
from scripts.works.names import REASONS, all_names, objects
from tritium.frontend.language.libdevice_symbols import library_names


def test_every_public_name_is_on_the_page():
    wanted = {f"tl.{name}" for name in tl.__all__} | {f"tritium.{name}" for name in tritium.__all__}
    wanted |= {f"libdevice.{name}" for name in library_names("cuda")}
    assert not wanted - all_names()


def test_every_name_has_a_test_or_a_reason():
    assert not gaps(read()), "write a test, and record it: python -m scripts.works tests/…"


def test_what_is_recorded_is_there():
    for name, shown in read().items():
        assert name in all_names(), f"{name} is no name any more: python -m scripts.works records anew"
        for test in shown.values():
            assert exists(test), f"{test} shows {name} no more: python -m scripts.works tests/… records another one"


def test_reasons_are_for_names_without_tests():
    assert {name for name, _ in REASONS} <= all_names()


def test_names_are_found_by_what_they_name():
    found = objects()
    assert found[id(tl.sort)] == ["tl.sort"] and found[id(tl.exp)] == ["tl.exp", "tl.math.exp"]


def test_functions_of_a_file_that_takes_those_of_another():
    mirror, original = (functions_of(f"tests/{room}/test_programs.py") for room in ("gpu", "e2e/cpu"))
    assert "test_every_program_runs_once" in original - mirror and original & mirror
    assert not exists("tests/gpu/test_programs.py::test_every_program_runs_once") and not exists("tests/none.py::test")


def test_the_test_that_is_most_about_a_name_is_chosen():
    file = "tests/e2e/cpu/test_libdevice.py::"
    tests = {f"{file}test_bits": 3, f"{file}test_integers": 9, f"{file}test_double": 4}
    old = {"tl.sort": {"cpu": f"{file}test_gone"}, "tl.topk": {"cpu": f"{file}test_bits"}}
    merged = merge(old, {"tl.sort": {"cpu": tests}}, {"tl.sort", "tl.topk"})
    assert merged == {"tl.sort": {"cpu": f"{file}test_bits"}, "tl.topk": old["tl.topk"]}
    assert merge({}, {"x.double": {"cpu": tests}}, {"x.double"})["x.double"]["cpu"].endswith("test_double")

"""Library functions: cut out of libdevice, kept, linked, inlined."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.nvidia.texts import add, math, needs_libdevice
from tritium.backends.errors import BackendError, ToolMissing
from tritium.backends.nvidia import libdevice, toolchain
from tritium.backends.nvidia.codegen import NVPTXTarget, emit_ptx, optimize

HOPPER = NVPTXTarget(90, 84)

SQUARE = "define float @square(float %x) {\n  %r = fmul float %x, %x\n  ret float %r\n}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(libdevice, "_slices", {})
    return tmp_path / "cache" / "native"


def llir(text: str, libraries: tuple[tuple[str, str], ...] = (), ftz: bool = True) -> str:
    return str(optimize(text, HOPPER, libraries, ftz))


@needs_libdevice
def test_functions_are_inlined_and_nothing_else_stays(folder: Path) -> None:
    text = llir(math("__nv_expf", "__nv_sinf", "__nv_expf"))
    assert "call float @__nv" not in text and "define internal" not in text
    assert text.count("define ") == 1
    assert sorted(f.name.split("-")[2] for f in folder.iterdir()) == ["__nv_expf", "__nv_sinf"]
    assert all(f.stat().st_size < 30_000 for f in folder.iterdir())
    code = emit_ptx(text, HOPPER)
    assert ".entry math" in code and ".func" not in code


@needs_libdevice
def test_a_slice_is_cut_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = llir(math("__nv_tanhf"))
    monkeypatch.setattr(libdevice, "_cut", None)
    monkeypatch.setattr(libdevice, "_slices", {})
    assert llir(math("__nv_tanhf")) == first


@needs_libdevice
def test_a_damaged_slice_is_cut_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = llir(math("__nv_tanhf"))
    (file,) = folder.iterdir()
    good = file.read_bytes()
    for bad in (b"", good[:-1], good[:40] + b"\x00" + good[41:]):
        file.write_bytes(bad)
        monkeypatch.setattr(libdevice, "_slices", {})
        assert llir(math("__nv_tanhf")) == first
        assert file.read_bytes() == good


@needs_libdevice
def test_subnormals_are_flushed_where_that_is_asked_for() -> None:
    flushed, kept = (emit_ptx(llir(math("__nv_expf"), ftz=ftz), HOPPER) for ftz in (True, False))
    assert "fma.rn.ftz.f32" in flushed and "fma.rn.ftz.f32" not in kept and "fma.rn.f32" in kept


@needs_libdevice
def test_a_function_that_is_none() -> None:
    with pytest.raises(BackendError, match="has no function __nv_tanhff; did you mean '__nv_tanhf'"):
        llir(math("__nv_tanhff"))


def test_without_libdevice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_LIBDEVICE_PATH", raising=False)
    monkeypatch.delenv("TRITIUM_LIBDEVICE_PATH", raising=False)
    monkeypatch.setattr(toolchain, "_candidates", lambda *_: iter(()))
    toolchain._search.cache_clear()
    try:
        with pytest.raises(
            ToolMissing, match=r"library function __nv_expf needs NVIDIA's libdevice.*tritium\[nvidia\]"
        ):
            llir(math("__nv_expf"))
        assert "fmul" in llir(add())  # who calls none needs none
    finally:
        toolchain._search.cache_clear()


def test_a_library_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "own.ll"
    path.write_text(SQUARE)
    text = llir(math("square"), (("own", str(path)),))
    assert "fmul float" in text and "@square" not in text


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "'own' cannot be read"), (b"\xff\xfe", "neither bitcode"), (b"BC\xc0\xde??", "linked")],
)
def test_a_library_that_is_none(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "own.bc"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BackendError, match=message):
        llir(math("square"), (("own", str(path)),))


def test_a_libdevice_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "libdevice.bc"
    path.write_bytes(b"no bitcode")
    with pytest.raises(BackendError, match="libdevice .* cannot be read"):
        llir(math("__nv_expf"), (("libdevice", str(path)),))

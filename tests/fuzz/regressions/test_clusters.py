"""Blocks of a cluster: one element in each (of which both were read from the memory of the first); an operand that both have
and of which each keeps a part; a tile by descriptor whose rows, divided, are shorter than the copy engine moves; fewer
elements than blocks, in another shape; columns that a warp has whole; rows that blocks have in turns; and a division of
elements in another shape that is none in parts."""

import tritium
import tritium.language as tl
from tests.fuzz.kernels.compare import check

TARGETS = ("interpreter", "emulated:90")


@tritium.jit
def an_element_each(x_u32, o1_u32):
    best = tl.topk(tl.load(x_u32 + 20 - tl.arange(0, 8)), 1)
    tl.store(o1_u32 + tl.arange(0, 1), best)


@tritium.jit
def what_both_have(x_e5, o1_f32):
    i, j = tl.arange(0, 32), tl.arange(0, 64)
    a = tl.load(x_e5 + i[:, None] + j[None, :] * 32)
    b = tl.load(x_e5 + i[:, None] + j[None, :] * 32)
    tl.store(o1_f32 + j[:, None] * 64 + j, tl.dot(tl.trans(a), b))


@tritium.jit
def short_rows(x_e5, o1_f32):
    a = tl.make_tensor_descriptor(x_e5, [29, 128], [128, 1], [32, 32])
    b = tl.make_tensor_descriptor(x_e5, [128, 16], [16, 1], [32, 16])
    total = tl.zeros((32, 16), tl.float32)
    for i in range(2):
        total = tl.dot(a.load([0, 32 * i]), b.load([32 * i, 0]), total)
    tl.store(o1_f32 + tl.arange(0, 32)[:, None] * 16 + tl.arange(0, 16), total)


@tritium.jit
def fewer_than_blocks(x_bf16, o1_bf16):
    x = tl.load(x_bf16 + tl.arange(0, 1))
    tl.store(o1_bf16 + tl.arange(0, 2), tl.cat(x, x, dim=0))


@tritium.jit
def columns(x_u16, o1_u16):
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)
    x = tl.load(x_u16 + at)
    for axis in tl.static_range(2):
        tl.store(o1_u16 + axis * 256 + at, tl.gather(tl.flip(x, 0), tl.cast(x % 16, tl.int32), axis))


@tritium.jit
def rows_in_turns(x_i8, o1_i8):
    x = tl.make_tensor_descriptor(x_i8, [16, 16], [48, 1], [16, 16]).load([1, 0])
    tl.store(o1_i8 + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16), tl.flip(x, 0))


@tritium.jit
def in_another_shape(x_i32, o1_i32):
    x = tl.cumsum(tl.load(x_i32 + tl.arange(0, 8)).reshape([2, 2, 2]), 1)
    i = tl.arange(0, 2)
    tl.store(o1_i32 + i[:, None, None] * 4 + i[None, :, None] * 2 + i, x)


def test_an_element_each():
    for seed in range(4):
        check(an_element_each, outputs={"o1_u32": 6}, seed=seed, targets=TARGETS, num_ctas=2)


def test_what_both_have():
    check(what_both_have, outputs={"o1_f32": 4096}, seed=1, targets=TARGETS, num_ctas=2)


def test_short_rows():
    check(short_rows, outputs={"o1_f32": 512}, seed=1, targets=TARGETS, num_ctas=2)


def test_fewer_than_blocks():
    check(fewer_than_blocks, outputs={"o1_bf16": 8}, seed=1, targets=TARGETS, num_ctas=4)


def test_columns():
    for warps in (1, 4):
        check(columns, outputs={"o1_u16": 512}, seed=1, targets=TARGETS, num_ctas=4, num_warps=warps)


def test_rows_in_turns():
    check(rows_in_turns, outputs={"o1_i8": 256}, seed=1, targets=TARGETS, num_ctas=4)


def test_in_another_shape():
    check(in_another_shape, outputs={"o1_i32": 8}, seed=1, targets=TARGETS, num_ctas=4)

"""Philox 4x32 in NumPy, after Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 3.3."""

from __future__ import annotations

import numpy as np

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)  # the golden ratio and sqrt(3) - 1, as 32-bit fractions
LOW = np.uint64(0xFFFFFFFF)


def philox(seed: int, offsets: np.ndarray, rounds: int = 10) -> list[np.ndarray]:
    """The four 32-bit words of each counter (offset, 0, 0, 0) under the 64-bit key `seed`."""
    counter = [offsets.astype(np.uint64) & LOW] + [np.zeros(offsets.shape, np.uint64)] * 3
    key = [seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF]
    for _ in range(rounds):
        product0 = counter[0] * np.uint64(MULTIPLIERS[0])
        product1 = counter[2] * np.uint64(MULTIPLIERS[1])
        counter = [
            (product1 >> np.uint64(32)) ^ counter[1] ^ np.uint64(key[0]),
            product1 & LOW,
            (product0 >> np.uint64(32)) ^ counter[3] ^ np.uint64(key[1]),
            product0 & LOW,
        ]
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, WEYL)]
    return [word.astype(np.uint32) for word in counter]


def uniform(seed: int, offsets: np.ndarray) -> np.ndarray:
    """What `tl.rand` gives: the first word as a signed number, folded to [0, 2^31), times nearly 2^-31."""
    word = philox(seed, offsets)[0].view(np.int32)
    folded = np.where(word < 0, -word - 1, word)
    return (folded.astype(np.float32) * np.float32(4.6566127342e-10)).astype(np.float64)

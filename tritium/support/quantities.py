"""Numbers with units for tables."""

from __future__ import annotations

__all__ = ["amount", "counted", "rate", "seconds"]

_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def amount(number: float, unit: str) -> str:
    """Three digits with a decimal prefix.

    >>> amount(137438953472, "FLOP"), amount(12, "B")
    ('137 GFLOP', '12 B')
    """
    for size, prefix in _PREFIXES:
        if number >= size:
            return (
                f"{number / size:.3g} {prefix}{unit}"
                if number < 999.5 * size
                else f"{number / size:.0f} {prefix}{unit}"
            )
    return f"{number:.3g} {unit}"


def counted(number: int, noun: str) -> str:
    """A number of things, in the singular or the plural.

    >>> counted(1, "entry"), counted(2000, "entry"), counted(0, "line")
    ('1 entry', '2,000 entries', '0 lines')
    """
    several = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else several}"


def seconds(time: float) -> str:
    """A time in a suitable unit.

    >>> seconds(0.000139), seconds(0)
    ('139 us', '0 us')
    """
    for size, unit in ((1.0, "s"), (1e-3, "ms")):
        if time >= size:
            return f"{time / size:.3g} {unit}"
    return f"{time * 1e6:.3g} us"


def rate(number: float, base: float) -> str:
    """The ratio of two numbers.

    >>> rate(300, 100)
    '3.0 times'
    """
    return f"{number / base:.1f} times"

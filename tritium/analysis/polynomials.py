"""Polynomials with integer coefficients over values of a program.

    %pid * 128 * %stride + %k * 64 - 5        {(pid, stride): 128, (k,): 64, (): -5}

Atoms, the indeterminates, are numbered in the order in which they are first seen, so that a polynomial is independent
of the order of operations, and code that is emitted for it the same in each process.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

__all__ = ["Atoms", "Polynomial"]

Monomial = tuple[int, ...]
"""The atoms of a term, sorted; an atom is repeated for a power."""


class Atoms:
    """The numbers of atoms."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._atoms: list[Hashable] = []

    def polynomial(self, atom: Hashable) -> Polynomial:
        """The polynomial that is an atom."""
        number = self._numbers.setdefault(atom, len(self._atoms))
        if number == len(self._atoms):
            self._atoms.append(atom)
        return Polynomial({(number,): 1})

    def __getitem__(self, number: int) -> Hashable:
        return self._atoms[number]


class Polynomial:
    """Σ coefficient * Π atoms: `terms` maps monomials to coefficients other than 0."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = {monomial: n for monomial, n in terms.items() if n}

    @classmethod
    def of(cls, number: int) -> Polynomial:
        """A constant."""
        return cls({(): number})

    @property
    def number(self) -> int | None:
        """The value of a constant; None for others."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    @property
    def atoms(self) -> set[int]:
        """The numbers of the atoms."""
        return {number for monomial in self.terms for number in monomial}

    def __iter__(self) -> Iterator[tuple[Monomial, int]]:
        return iter(self.terms.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __repr__(self) -> str:
        return f"Polynomial({self.terms})"

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, n in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) + n
        return Polynomial(terms)

    def __neg__(self) -> Polynomial:
        return self.scaled(-1)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for a, m in self.terms.items():
            for b, n in other.terms.items():
                monomial = tuple(sorted((*a, *b)))
                terms[monomial] = terms.get(monomial, 0) + m * n
        return Polynomial(terms)

    def scaled(self, factor: int) -> Polynomial:
        """A multiple."""
        return Polynomial({monomial: n * factor for monomial, n in self.terms.items()})

    def divided(self, divisor: int) -> Polynomial | None:
        """The quotient by a positive number; None unless it divides all coefficients."""
        if any(n % divisor for n in self.terms.values()):
            return None
        return Polynomial({monomial: n // divisor for monomial, n in self.terms.items()})

    def quotient(self, term: Polynomial) -> Polynomial | None:
        """q with `q * term == self`, where `term` has one monomial; None without such a q."""
        ((monomial, factor),) = term.terms.items()
        terms: dict[Monomial, int] = {}
        for own, n in self.terms.items():
            rest = list(own)
            for atom in monomial:
                if atom not in rest:
                    return None
                rest.remove(atom)
            if n % factor:
                return None
            terms[tuple(rest)] = n // factor
        return Polynomial(terms)

"""The rewrite rules, one file per topic, and the requirements on a rule.

1. The docstring is the equation. For arithmetic it is proved by `tests/transforms/test_rules_proofs.py`, which fails
   for a rule that no sample there reaches; other rules are tested by `test_rules_tiles.py` beside it, on the function
   of their name in `tests/filetests/rules`, which each rule must have, and over all small shapes.
2. Arithmetic is total, as docs/semantics.md says: a rule also holds for division by zero and of the minimum integer by
   -1, for shifts by the width or more and for floats out of range. The right side has no effect that the left does not
   have.
3. The right side has no more operations than the left, counting those with other users; if it has as many, it is closer
   to the canonical form: constants on the right, conditions not negated, fewer kinds of operations. No two rules undo
   each other.
4. A float rule is exact for every input, including infinities and both zeros; only the bits of a NaN may differ.
5. A rule inspects operands through their types and `splat_of`, never names or locations, and changes nothing when it
   returns None.
"""

from .arith import INTEGER_RULES
from .arith_cast import CAST_RULES
from .arith_compare import COMPARE_RULES
from .arith_float import FLOAT_RULES
from .cf import CF_RULES
from .math import MATH_RULES
from .scf import SCF_RULES
from .tt import TT_RULES

__all__ = [
    "ARITH_RULES",
    "CANONICAL_RULES",
    "CAST_RULES",
    "CF_RULES",
    "COMPARE_RULES",
    "FLOAT_RULES",
    "INTEGER_RULES",
    "MATH_RULES",
    "SCF_RULES",
    "TT_RULES",
]

ARITH_RULES = [*INTEGER_RULES, *COMPARE_RULES, *CAST_RULES, *FLOAT_RULES, *MATH_RULES]
CANONICAL_RULES = [*ARITH_RULES, *TT_RULES, *SCF_RULES, *CF_RULES]

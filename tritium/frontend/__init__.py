"""From Python source to the ``tt`` dialect.

Three parts: the language (the documented ``tl.*`` functions), the semantics (typing, promotion, broadcasting,
pointer arithmetic), and the visitor of Python's syntax tree, which turns statements into operations and reports
what it cannot accept at the kernel's own source line.
"""

"""The documentation site: docs/ and the pages beside it, with an API reference, built by Zensical.

Zensical is the successor of Material for MkDocs by the same authors; that reaches its end of life in May 2027
(https://github.com/squidfunk/mkdocs-material). `sources` prepares the pages in build/site/docs, `links` checks what was
built. `make docs` builds and checks, `make docs-serve` serves while pages are edited.
"""

"""The explorer: follow a kernel through every pass, in a browser, an exported file, or a notebook.

`model` has the data, `index` reads traces, `documents`, `texts`, `provenance`, `layouts` and `performance` make the
data from them; `session` holds the state of one server, `server` answers requests, `worker` compiles in a child
process. Importing this package imports none of them.
"""

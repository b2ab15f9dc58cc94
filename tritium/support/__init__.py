"""What every other room may lean on: diagnostics, source locations, interning and settings.

A diagnostic is a value (position, message, notes, hint) and one renderer draws it, with the source line and a
caret, for the frontend, the parser and the verifier alike. Settings ("knobs") are read from the environment in
one place, so that no other room looks at ``os.environ``.
"""

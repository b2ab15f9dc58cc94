"""Languages beside the Triton language: Gluon, whose layouts, buffers and barriers are explicit."""

"""Which thread holds which element: layouts of accesses, and few conversions between them."""

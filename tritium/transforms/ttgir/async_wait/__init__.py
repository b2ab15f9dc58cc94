"""Waits and fences for asynchronous operations: WGMMA, `cp.async` and the async proxy."""

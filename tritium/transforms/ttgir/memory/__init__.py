"""Shared memory and registers: allocation, barriers, and the order of operations."""

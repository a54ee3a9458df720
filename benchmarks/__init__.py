"""Benchmarks behind design decisions, one module per room: ``python -m benchmarks``."""

"""Times the hot paths; one module a room, ``python -m benchmarks`` runs them all."""

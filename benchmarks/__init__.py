"""Times what a decision rests on, one module a room: ``python -m benchmarks`` runs them all."""

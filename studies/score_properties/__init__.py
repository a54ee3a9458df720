"""Which properties scores have, and what they rest on in given vectors (Schröder et al., 2024)."""

"""Properties of bias scores, and of the vectors that they depend on (Schröder et al., 2024)."""

"""Scores of BBQ (Parrish et al., 2022), the bias benchmark for question answering."""

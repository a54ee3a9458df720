"""What each modification did: ``python -m analysis.effects results/answer_en``."""

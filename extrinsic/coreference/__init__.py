"""Coreference resolution on frozen vectors: which mentions of a text speak of one entity.

``scorer`` compares anybody's clusters with the true ones.
"""

"""Coreference resolution on frozen vectors: clusters of mentions of the same entity.

``scorer`` compares any predicted clusters with the true ones.
"""

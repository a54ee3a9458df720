"""Coreference resolution on frozen vectors: clusters of mentions of the same entity.

``resolver`` predicts clusters, ``scorer`` compares any with the true ones, and ``challenge``
computes gaps on challenge sets.
"""

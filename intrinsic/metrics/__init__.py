"""Metrics on word vectors: a file for each family."""

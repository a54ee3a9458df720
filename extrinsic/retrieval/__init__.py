"""Retrieval: distance of gender-neutral queries to documents worded about men or about women."""

"""Retrieval: which wording of a document, about men or about women, an encoder puts nearer to a
query that names neither.
"""

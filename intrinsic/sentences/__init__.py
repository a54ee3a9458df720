"""Metrics on the encodings of sentences, and of words in sentences."""

"""Encoders of sentences: how well they do what they are for."""

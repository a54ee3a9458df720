"""Answers of language models, read from the result files of evaluation harnesses."""

"""Metrics on language models: likelihoods of words and sentences, and encodings."""

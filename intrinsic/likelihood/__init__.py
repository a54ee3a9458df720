"""Metrics on the likelihoods that a language model gives to words and sentences."""

"""Dependence of scores on the words that are in the vocabulary (Spliethöver & Wachsmuth, 2021)."""

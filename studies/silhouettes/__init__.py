"""Dependence of scores on the words of a list that are in the vocabulary (Spliethöver & Wachsmuth,
2021).
"""

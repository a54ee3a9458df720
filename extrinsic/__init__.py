"""Downstream tasks: group taggers, hate-speech classifiers, gaps between groups.

``tagger`` tags posts by gender words, ``cnn`` and ``linear`` classify them, ``gap_table`` computes
performance gaps from any predictions.
"""

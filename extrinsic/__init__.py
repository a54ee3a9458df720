"""Downstream tasks: group taggers, classifiers of posts, coreference, retrieval, BBQ, and gaps.

``classifiers`` classify posts, ``taggers`` name the group that a post is about, ``predictions``
reads anybody's predictions, and ``gap_table`` computes gaps between groups from them.
"""

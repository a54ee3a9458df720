"""Downstream tasks on frozen vectors: group tagger, hate-speech classifiers, gaps between groups.

``tagger`` tags posts by gender words, ``cnn`` and ``linear`` classify them, ``gaps`` turns
anybody's predictions into performance gaps.
"""

from biasbridge.hidden import refuse_hidden

refuse_hidden("files", "intrinsic")

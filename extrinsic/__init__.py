"""Downstream tasks: group taggers, classifiers of posts, coreference, retrieval, BBQ, and gaps.

``classifiers`` classify posts, ``taggers`` name the group that a post is about, ``predictions``
reads anybody's predictions, and ``gap_table`` computes gaps between groups from them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""An encoder of texts made of word vectors: the mean of the words of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from corpora.sentences import tokenise_treebank

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


class WordMean:
    """A text is the mean of the vectors of its tokens (Penn Treebank's, as in GloVe's corpora),
    each as written or else in lower case; a token with neither counts as one without a vector does
    in ``extrinsic.encode``.
    """

    def __init__(self, vectors: KeyedVectors) -> None:
        self.vectors = vectors

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector a text, (texts, dim); zeros where no token has a vector. Raises ``InputError``
        where none of all texts has.
        """
        from extrinsic.encode import encode_words
        from extrinsic.linear import mean_vectors

        found = mean_vectors(encode_words([self._tokens(text) for text in texts], self.vectors))
        return found.astype(np.float32)

    def knows(self, text: str) -> bool:
        """Whether a text has tokens, all of them with a vector."""
        tokens = self._tokens(text)
        return bool(tokens) and all(token in self.vectors.key_to_index for token in tokens)

    def _tokens(self, text: str) -> list[str]:
        known = self.vectors.key_to_index
        tokens = [token.text for sentence in tokenise_treebank(text) for token in sentence]
        return [token if token in known else token.lower() for token in tokens]

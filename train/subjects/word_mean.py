"""Text encoder that averages the vectors of a text's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasbridge.corpora.sentences import tokenise_treebank
from biasbridge.files.names import known_form

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


class WordMean:
    """Mean of the vectors of a text's tokens (Penn Treebank tokens, as in GloVe's corpora).

    A token is looked up as written, then in lower case; if both are out of vocabulary it is treated
    as in ``biasbridge.extrinsic.encode``.
    """

    def __init__(self, vectors: KeyedVectors) -> None:
        self.vectors = vectors

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, (texts, dim); zeros if no token has a vector.

        Raises ``InputError`` if no text has a token with a vector.
        """
        from biasbridge.extrinsic.encode import encode_words
        from biasbridge.extrinsic.linear import mean_vectors

        means = mean_vectors(encode_words([self._tokens(text) for text in texts], self.vectors))
        return means.astype(np.float32)

    def knows(self, text: str) -> bool:
        """Test whether a text has tokens and all of them have a vector."""
        tokens = self._tokens(text)
        return bool(tokens) and all(token in self.vectors.key_to_index for token in tokens)

    def _tokens(self, text: str) -> list[str]:
        vocabulary = self.vectors.key_to_index
        tokens = [token.text for sentence in tokenise_treebank(text) for token in sentence]
        return [known_form(token, vocabulary) for token in tokens]

"""Fine-tuned language model as a classifier of posts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from biasbridge.extrinsic.crossval import cross_predict, read_posts, texts_as_written
from biasbridge.extrinsic.finetuned_settings import FinetunedSettings

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.files.models.language_model import LanguageModel


class Finetuned(FinetunedSettings):
    """Fine-tuned language model with a linear layer: see ``FinetunedSettings``."""

    chosen_as: ClassVar[tuple[str, ...]] = ("classifier/finetuned",)
    configuration: ClassVar[Mapping[str, object]] = {"device": "${device}"}

    def predict(self, posts: pd.DataFrame, model: LanguageModel, *, seed: int) -> pd.DataFrame:
        """Predict the test posts, or all by cross-validation; see ``cross_predict``.

        Raises ``FloatingPointError`` if a loss is not finite.
        """
        from biasbridge.extrinsic.finetuning import (  # torch is slow to import
            predict_probabilities,
            tokenise,
        )

        table = read_posts(posts)
        tokens = tokenise(texts_as_written(table), model, self.max_tokens)
        labels = table["train_label"].to_numpy()
        score = partial(predict_probabilities, self, model, tokens, labels)
        return cross_predict(table, score, folds=self.folds, seed=seed)

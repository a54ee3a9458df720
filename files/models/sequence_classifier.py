"""Text classifiers of transformers, from safetensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from biasbridge.files.errors import InputError
from biasbridge.files.models.load import (
    convert_load_errors,
    load_options,
    load_tokenizer,
    longest_text,
    missing_architectures,
    within_bytes,
)
from biasbridge.files.models.place import find_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from biasbridge.stats.arrays import Floats

SUFFIX = "ForSequenceClassification"
LONGEST = 512  # tokens, where neither model nor tokenizer has a limit
BATCH = 32  # texts


@dataclass(frozen=True)
class SequenceClassifier:
    """Classifier of texts with its tokenizer. Longer texts than the model allows are cut."""

    classes: Sequence[str]
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast

    def predict_probabilities(self, texts: Sequence[str]) -> Floats:
        """Return the probability of each class, (texts, classes).

        Softmax over classes; of a single logit, and where an item may have several classes,
        the sigmoid of each.
        """
        import torch

        config, model, tokenizer = self.model.config, cast("Any", self.model), self.tokenizer
        is_sigmoid = config.problem_type == "multi_label_classification" or config.num_labels == 1
        longest = longest_text(self.model, tokenizer, LONGEST)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        probabilities = np.zeros((len(texts), len(self.classes)))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            encoded = cast("Any", tokenizer)(
                [texts[i] for i in batch],
                padding=True,
                truncation=True,
                max_length=longest,
                return_tensors="pt",
            )
            with torch.inference_mode():
                logits = model(**encoded).logits
            values = logits.sigmoid() if is_sigmoid else logits.softmax(-1)
            probabilities[batch] = values.double().numpy()
        return probabilities


def open_sequence_classifier(name: str) -> SequenceClassifier:
    """Open a folder that ``save_pretrained`` wrote, or a hub name with its commit.

    Raises ``InputError`` for a model without a classification head, for a regression, and for
    files that lack weights.
    """
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    with convert_load_errors(name):
        place = find_model(name)
        options: dict[str, Any] = load_options(place)
        config = AutoConfig.from_pretrained(place.source, **options)
        if problem := missing_architectures(config, "SEQUENCE_CLASSIFICATION"):
            raise InputError(f"model={name!r}: {problem}")
        architectures = config.architectures or [""]
        if not architectures[0].endswith(SUFFIX) or config.problem_type == "regression":
            raise InputError(f"model={name!r} is {architectures[0]}, not a classifier of texts")
        common: dict[str, Any] = {"dtype": torch.float32, "use_safetensors": True}
        with within_bytes(place, name), torch.device("meta"):
            AutoModelForSequenceClassification.from_config(config, dtype=torch.float32)
        model, report = AutoModelForSequenceClassification.from_pretrained(
            place.source, **options, **common, output_loading_info=True
        )
        if absent := sorted(report["missing_keys"]):
            problem = f"its files lack {len(absent)} weights ({absent[0]}, ...)"
            raise InputError(f"model={name!r}: {problem}, which would be random")
        tokenizer = load_tokenizer(place, name)
    names = [str(config.id2label[number]) for number in range(config.num_labels)]
    return SequenceClassifier(names, model.eval(), tokenizer)

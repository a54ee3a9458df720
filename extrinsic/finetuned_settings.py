"""Settings of a fine-tuned language model as a classifier of posts."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge, Lt, doc

from biasbridge.extrinsic.crossval import Folds
from biasbridge.files import choice
from biasbridge.files.choice import Count, Fileless, NotNegative, Positive


@choice
class FinetunedSettings(Fileless):
    """Language model with a new linear layer on the mean of its last states, special tokens
    included; all weights are trained by AdamW on cross-entropy.

    The learning rate rises in the first tenth of the steps of all ``epochs``, then falls to 0;
    gradients are clipped at norm 1. The epoch with the lowest dev loss is kept, and training ends
    ``patience`` epochs after it. Posts are used as published, truncated to ``max_tokens`` tokens,
    in batches of similar length. On the CPU a seed gives the same predictions each time for the
    same number of threads. The default rate suits models of published size; tiny ones need about
    1e-3. Every fold starts from a copy of the model.
    """

    epochs: Count = 4
    patience: Count = 1
    learning_rate: Annotated[Positive, doc("for tiny models about .001")] = 5e-5
    weight_decay: NotNegative = 0.01
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1  # before the linear layer
    batch_size: Count = 32
    max_tokens: Count = 128
    folds: Folds = 5
    device: str = "cpu"

    name: ClassVar[str] = "finetuned"
    version: ClassVar[int] = 3
    needs: ClassVar[str] = "model"
    unkeyed: ClassVar[tuple[str, ...]] = ("device",)

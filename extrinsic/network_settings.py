"""Settings of the networks that classify posts: Kim's (2014) convolutional network on frozen
vectors ("CNN-static"), and a fine-tuned language model.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge, Lt, doc

from biasbridge.extrinsic.crossval import Folds
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Fileless, NotNegative, Positive


@choice
class CNNSettings(Fileless):
    """CNN-static (Kim, 2014, EMNLP), the model of Goldfarb-Tarrant et al. (2021, section 3.3).

    Frozen vectors; ``maps`` filters for each width in ``windows``, ReLU, maximum over time;
    dropout; softmax over two classes, whose weight vectors are clipped to l2 norm ``max_norm``
    after each step, in Kim's scale (times 1 - ``dropout`` in ours: ``cnn_step``);
    cross-entropy by Adadelta (rho 0.95, ``learning_rate`` 1). These values are
    Kim's. His paper does not specify early stopping on the dev set, his code keeps the best of 25
    epochs by dev accuracy; here the epoch with the highest dev F1 is kept (on a tie, the lower dev
    loss), and training ends ``patience`` epochs after it or after ``epochs``. F1, as the classes
    are imbalanced and the gaps are of precision and recall: the dev loss selects visibly worse
    epochs.

    Posts are truncated to ``max_length`` tokens, and padded with zeros to the widest window; longer
    posts in the batch do not pad shorter ones. A batch has posts of similar length.
    ``device`` is any torch device; on the CPU a seed gives the same predictions each time for the
    same number of threads.
    """

    windows: tuple[Count, ...] = (3, 4, 5)
    maps: Count = 100
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.5
    max_norm: Positive = 3.0
    batch_size: Count = 50
    epochs: Count = 25
    patience: Count = 3
    learning_rate: Positive = 1.0
    max_length: Count = 128
    folds: Annotated[Folds, doc("folds of the cross-validation, for sources without a split")] = 5
    device: str = "cpu"

    name: ClassVar[str] = "cnn"
    version: ClassVar[int] = 5
    unkeyed: ClassVar[tuple[str, ...]] = ("device",)

    def __post_init__(self) -> None:
        if not self.windows or self.max_length < max(self.windows):
            values = f"windows={self.windows}, max_length={self.max_length}"
            raise InputError(f"{values}: give at least one width, and none above max_length")


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

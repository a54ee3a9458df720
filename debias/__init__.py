"""Push the bias of embeddings down or up: on the text (balance) or the vectors (attract-repel)."""

from biasbridge.hidden import refuse_hidden

refuse_hidden("files", "intrinsic")

"""Push the bias of embeddings down or up: on the text (balance) or the vectors (attract-repel)."""

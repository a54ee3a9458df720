"""Push the bias of embeddings down or up: on the text before training (balance) or on the vectors
after it (attract-repel).
"""

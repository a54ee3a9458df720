"""Models whose bias is measured: word embeddings and language models."""

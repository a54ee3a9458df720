"""Items for language models: texts with a slot, and pairs of sentences."""

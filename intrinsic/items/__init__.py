"""What language models are asked: texts with a slot, and pairs of sentences; their files."""

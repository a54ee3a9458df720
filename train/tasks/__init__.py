"""Downstream tasks that a model is put to."""

"""Examinations of vectors and metrics: one file each."""

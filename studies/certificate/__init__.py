"""Certificates of bias metrics, from models in which a bias of known strength is planted."""

SYNTHETIC = "synthetic"  # material of made-up text

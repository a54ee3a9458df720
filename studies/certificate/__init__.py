"""Certificates of bias metrics, from models in which a bias of known strength is planted."""

"""The commands, each with its module for ``python -m``, if any, and a description.

The build of the wheel reads this table, so it imports nothing.
"""

COMMANDS = {
    "train": ("", "run a point or a sweep, as train.py in a checkout"),
    "audit": ("intrinsic", "measure bias metrics on vectors or a language model"),
    "debias": ("debias", "write a debiased or overbiased copy of vectors or a language model"),
    "certify": ("", "certify a bias metric on models with a planted bias"),
    "gaps": ("extrinsic", "measure gaps with intervals from predictions"),
    "bbq": ("", "compute bias scores of BBQ from a language model's answers"),
    "predict": ("", "classify texts with a classifier that others trained"),
    "coreference": ("extrinsic.coreference", "score coreference predictions"),
    "agreement": ("extrinsic.agreement", "compare gender words with annotated groups"),
    "correlate": (
        "analysis.correlate",
        "correlate scores and gaps of a results folder or any table",
    ),
    "effects": ("analysis.effects", "show the effects of conditions on gaps and scores"),
    "scatter": ("analysis.scatter", "draw figures of a results folder or any table"),
    "report": ("analysis.report", "write the report of a results folder"),
    "tsne": ("intrinsic.tsne", "draw the words of a query in the plane"),
    "atlas": ("studies.atlas", "recompute published point sets by one protocol"),
    "store": ("train.engine.store", "inspect a store: ls, explain, export, verify, gc"),
    "check": ("", "describe your data and what a run on them would do"),
    "init": ("", "write an experiment file for your data"),
    "completion": ("", "print a completion script for bash or zsh"),
}
ALIASES = {"intrinsic": "audit", "extrinsic": "gaps"}

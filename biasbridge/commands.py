"""The commands: what ``python -m`` calls each, where it is a door too, and what it does.

Setting up a wheel reads this table, so it imports nothing.
"""

COMMANDS = {
    "train": ("", "a point or a sweep, as train.py in a checkout"),
    "audit": ("intrinsic", "every bias metric on any vectors, in one table"),
    "debias": ("debias", "a debiased or overbiased copy of vectors or of a language model"),
    "certify": ("", "what a bias metric's score is worth, on models with a planted bias"),
    "gaps": ("extrinsic", "gaps with intervals from anybody's predictions"),
    "coreference": ("extrinsic.coreference", "coreference scored against the truth"),
    "agreement": ("extrinsic.agreement", "do gender words find the group annotators saw?"),
    "correlate": ("analysis.correlate", "correlations of a results folder or any table"),
    "effects": ("analysis.effects", "what each condition did to gaps and scores"),
    "scatter": ("analysis.scatter", "figures of a results folder or any table"),
    "report": ("analysis.report", "the report of a results folder, written again"),
    "tsne": ("intrinsic.tsne", "the words of a query in the plane"),
    "atlas": ("studies.atlas", "published point sets computed again by the same protocol"),
    "store": ("train.store", "look into a store: ls, explain, export, verify, gc"),
    "check": ("", "reads your posts, corpus, words and vectors, and says what would happen"),
    "init": ("", "writes an experiment file for them"),
    "completion": ("", "a script by which bash or zsh completes all this"),
}
ALSO = {"intrinsic": "audit", "extrinsic": "gaps"}  # other names of a command

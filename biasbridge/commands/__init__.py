"""The commands and their descriptions."""

COMMANDS = {
    "train": "run a study, or one configuration of it, as train.py does in a clone",
    "data": "real data by name: list, get, verify, add",
    "audit": "measure bias metrics on vectors or a language model",
    "debias": "write a debiased or overbiased copy of vectors or a language model",
    "relate": "relate scores of language models to the bias of an application",
    "certify": "test whether a metric detects a bias that was planted in models",
    "gaps": "measure gaps with intervals from predictions",
    "bbq": "compute bias scores of BBQ from a language model's answers",
    "predict": "classify texts with a classifier that others trained",
    "coreference": "score coreference predictions",
    "analogy": 'answer "a is to b as c is to ..." by word vectors',
    "agreement": "compare gender words with annotated groups",
    "correlate": "correlate scores and gaps of a results folder or any table",
    "effects": "show the effects of conditions on gaps and scores",
    "scatter": "draw figures of a results folder or any table",
    "report": "write the report of a results folder",
    "tsne": "draw the words of a query as a map (t-SNE)",
    "store": "inspect a store: ls, verify, gc",
    "check": "describe your data and what a run on them would do",
    "init": "write an experiment file for your data",
}

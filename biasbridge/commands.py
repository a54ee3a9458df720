"""The sub-commands of ``biasbridge`` that are command lines of rooms, and the module of each."""

COMMANDS = {
    "intrinsic": ("intrinsic.__main__", "every bias metric on any vectors, in one table"),
    "debias": ("debias.__main__", "a debiased or overbiased copy of a file of vectors"),
    "extrinsic": ("extrinsic.__main__", "gaps with intervals from anybody's predictions"),
    "coreference": ("extrinsic.coreference.__main__", "coreference scored against the truth"),
    "agreement": ("extrinsic.agreement", "do gender words find the group annotators saw?"),
    "tsne": ("intrinsic.tsne", "the words of a query in the plane"),
    "correlate": ("analysis.correlate", "correlations of a results folder or any table"),
    "effects": ("analysis.effects.__main__", "what each modification did to gaps and scores"),
    "scatter": ("analysis.scatter", "figures of a results folder or any table"),
    "atlas": ("studies.atlas.__main__", "published point sets read anew by the same protocol"),
    "report": ("analysis.report.__main__", "the report of a results folder again"),
    "store": ("train.store.__main__", "look into a store: ls, explain, export, verify, gc"),
}

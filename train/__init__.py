"""Text becomes vectors, and the run itself: embeddings, the store, stages, one point, the sweep."""

from biasbridge.hidden import refuse_hidden

refuse_hidden("files", "intrinsic", "corpora", "debias", "extrinsic", "analysis")

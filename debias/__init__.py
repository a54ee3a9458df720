"""Methods that lower or raise bias, by changing text, vectors, hidden states or labels."""

from biasbridge.shadowed_packages import refuse_hidden

refuse_hidden("files", "intrinsic")

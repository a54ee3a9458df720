"""Studies of the metrics themselves, and the atlas of published point sets: a folder each."""

SYNTHETIC = "synthetic"  # material of made-up text

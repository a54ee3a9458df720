"""Studies of the metrics themselves, and the atlas of published point sets."""

SYNTHETIC = "synthetic"  # material of made-up text

"""Studies of the metrics themselves."""

SYNTHETIC = "synthetic"  # material of made-up text

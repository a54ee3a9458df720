"""The commands, one file each with a parser and ``main``."""

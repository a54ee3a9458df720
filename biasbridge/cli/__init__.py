"""The commands, one file each with a parser and ``main``.

``python -m intrinsic`` and others call the same commands.
"""

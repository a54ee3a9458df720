"""The command lines, one file each: a parser, and ``main``, which carries out the arguments.

``python -m intrinsic`` and its like are doors to the same commands.
"""

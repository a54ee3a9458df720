"""Published point sets, read anew by one protocol: ``python -m analysis.atlas docs/atlas``."""

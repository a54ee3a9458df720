"""Published point sets, read anew by one protocol: ``python -m studies.atlas docs/atlas``."""

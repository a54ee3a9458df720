"""Published point sets, read anew by one protocol: ``biasbridge atlas docs/atlas``."""

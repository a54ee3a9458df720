"""Published point sets, read again by one protocol: ``biasbridge atlas docs/atlas``."""

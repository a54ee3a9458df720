"""Real data by name: the registry, checked downloads, and corpora built from files of others."""

"""The configuration files; a package so that they are found once installed."""

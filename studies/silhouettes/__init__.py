"""How scores depend on which words of a list are found (Spliethöver & Wachsmuth, 2021)."""

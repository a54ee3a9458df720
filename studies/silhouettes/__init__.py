"""What scores owe to which words of a list are found (Spliethöver & Wachsmuth, 2021)."""

"""Methods that lower or raise bias, by changing text, vectors, hidden states or labels."""

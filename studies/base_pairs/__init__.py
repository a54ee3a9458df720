"""Whether scores of words depend on the base pair (Zhang, Sneyd & Stevenson, 2020)."""

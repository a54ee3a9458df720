"""Text becomes vectors, and the run itself: embeddings, the store, steps, one point, the sweep."""

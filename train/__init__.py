"""Text becomes vectors, and the run itself: embeddings, the store, stages, one point, the sweep."""

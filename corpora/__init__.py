"""Text comes in: corpora, labelled posts, and the synthetic worlds with planted bias."""

"""Input text: corpora, labelled posts, and synthetic worlds with planted bias."""

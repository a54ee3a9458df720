"""Text comes in: corpora, labelled posts, and the generated world that stands in for both."""

"""Text comes in: corpora for embeddings, labelled posts for classifiers, and the generated world
that stands in for both.
"""

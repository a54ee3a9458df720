"""Documents with coreference, and reading and writing of their files."""

from files.documents.conll import read_conll
from files.documents.document import Case, Cluster, Document, Question, Span
from files.documents.read import read_cases, read_documents, write_cases, write_documents
from files.documents.sentences import cut_sentences

__all__ = [
    "Case",
    "Cluster",
    "Document",
    "Question",
    "Span",
    "cut_sentences",
    "read_cases",
    "read_conll",
    "read_documents",
    "write_cases",
    "write_documents",
]

"""Documents with coreference, and reading and writing of their files."""

from biasbridge.files.documents.conll import read_conll
from biasbridge.files.documents.document import Case, Cluster, Document, Question, Span
from biasbridge.files.documents.read import read_cases, read_documents, write_cases, write_documents
from biasbridge.files.documents.sentences import cut_sentences

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

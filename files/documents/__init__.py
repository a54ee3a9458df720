"""Documents with coreference."""

from files.documents.document import Cluster, Document, Span

__all__ = ["Cluster", "Document", "Span"]

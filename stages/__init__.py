"""What happens to records: filters, classifiers, dedup, long-document cleaning, rephrasing."""

from gristmill.stages.doc_filter import doc_filter

__all__ = ["doc_filter"]

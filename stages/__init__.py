"""What happens to records: filters, classifiers, dedup, long-document cleaning, rephrasing."""

"""Web pages and their pictures."""

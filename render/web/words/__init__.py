"""Text banks of web pages, one language a file."""

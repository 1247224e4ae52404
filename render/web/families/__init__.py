"""Template families of web pages, one a file."""

"""SVG code and its pictures."""

"""Template families of SVG, one a file: `sample(draws)` decides, `write(params, view)` writes."""

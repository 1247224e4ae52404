"""Code-and-picture pairs and the sandbox for programs."""

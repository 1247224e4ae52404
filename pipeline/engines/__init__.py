"""Where tasks run: one engine a file."""

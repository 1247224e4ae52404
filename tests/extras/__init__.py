"""Tests of what needs the heavy extras: every engine beside the local one. `make test-extras` runs them."""

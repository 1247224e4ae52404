"""Tests: folders mirror the source folders; `laws/` holds the laws over all stages and engines."""

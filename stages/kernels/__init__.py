"""Gristmill."""

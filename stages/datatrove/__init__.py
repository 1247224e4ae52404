"""Filters of datatrove as stages of ours."""

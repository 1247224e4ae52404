"""Families of tasks, one a file; `catalogue` names them."""

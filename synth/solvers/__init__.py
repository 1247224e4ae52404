"""Solvers and adversaries: they read rows alone, and import nothing that makes them."""

"""Stages over pictures and what is known of them."""

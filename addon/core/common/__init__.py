"""Errors, long work in small steps, and texts."""

"""Loads on a body: force fields, colliders, animated settings."""

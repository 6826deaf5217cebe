"""Bones and parts of a character, and the weights of its vertices."""

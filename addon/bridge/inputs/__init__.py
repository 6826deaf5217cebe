"""Inputs of a body in each frame: poses, animated settings, force fields, actions."""

"""Drawings over the viewport: false colours on the render meshes, their legend, the tet mesh.

Meshes and materials stay unchanged. Handlers are registered only while something is drawn.
"""

"""The meshes of a body: finding and reading them, their maps and stitches, and what may be wrong."""

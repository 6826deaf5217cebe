"""The meshes of a body: finding and reading them, maps and stitches, and diagnosis."""

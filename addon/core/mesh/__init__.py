"""The surface of a body: its points, maps, stitches, and checks of its shape."""

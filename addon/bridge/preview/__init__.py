"""The live motion in the viewport: passes and caches, display on the meshes, and grabbing by hand."""

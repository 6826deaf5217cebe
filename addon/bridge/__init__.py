"""The only code with access to meshes, armatures, modifiers and animation of the scene."""

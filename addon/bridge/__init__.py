"""The only code that reads or writes meshes, armatures, modifiers and animation of the scene."""

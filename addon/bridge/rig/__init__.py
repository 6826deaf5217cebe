"""Rigs: armatures, bones, modifiers, shape keys, and the bone core derived from them."""

"""What poses a character: armatures, bones, modifiers, shape keys, and the core of bone found from them."""

"""Direction of flesh: curves on its motion, and keyed shapes that the motion passes."""

"""Direction of flesh by curves and keyed shapes."""

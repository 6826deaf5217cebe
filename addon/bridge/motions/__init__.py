"""The motions of bodies in all qualities, and the drives for them."""

"""The motion of a body through frames, and the forces on it."""

"""Tasks that need a whole shot: the fit, measurements, learning, sound."""

"""Drawings and false colours of bodies."""

"""Passes over the frames of a shot to fill the caches; one file per kind of body."""

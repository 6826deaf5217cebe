"""Passes over the frames of a shot, which fill the caches; one file a kind of body."""

"""From a motion to shape keys, bones and files."""

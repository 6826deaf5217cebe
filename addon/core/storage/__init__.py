"""Files of motions, and caches in memory."""

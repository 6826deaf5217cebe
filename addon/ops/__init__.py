"""The operators: what an artist or a script asks for."""

"""Shape keys and their animation."""

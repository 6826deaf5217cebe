"""The motion live in the viewport: its passes and caches, what the meshes show, the hand that pulls."""

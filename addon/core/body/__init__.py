"""Built bodies of each kind, and the objects that act on them."""

"""What plays without Jounce: the kinds of bakes, their files, and how one takes the place of another."""

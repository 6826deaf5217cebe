"""The one exception for what a user can mend."""


class Refusal(Exception):
    """One sentence that says what is wrong, where, and what to do about it; the scene is as it was."""

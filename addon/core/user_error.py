"""The one exception for what a user can mend."""

from collections.abc import Iterator
from contextlib import contextmanager


class UserError(Exception):
    """One sentence that says what is wrong, where, and what to do about it; the scene is as it was."""


@contextmanager
def passing_on(consequence: str) -> Iterator[None]:
    """What the native module refuses becomes a refusal in its own words, after what it means for the user."""
    try:
        yield
    except ValueError as error:
        raise UserError(f"{consequence}: {error}.") from error

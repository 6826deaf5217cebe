"""The exception for problems that a user can solve."""

from collections.abc import Iterator
from contextlib import contextmanager


class UserError(Exception):
    """One sentence: the problem, its place and the remedy; the scene is unchanged."""


@contextmanager
def passing_on(consequence: str) -> Iterator[None]:
    """Turns a refusal of the native module into a UserError, with the consequence for the user in front."""
    try:
        yield
    except ValueError as error:
        raise UserError(f"{consequence}: {error}.") from error

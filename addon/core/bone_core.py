"""The core of bone: what of a body follows its bones, as the native module is asked for it."""

from dataclasses import dataclass
from enum import Enum

import jounce
import numpy as np


class Role(Enum):
    """What the flesh of a bone does."""

    AUTOMATIC = "AUTOMATIC"
    FLESH = "FLESH"
    RIGID = "RIGID"
    FREE = "FREE"

    @property
    def native(self) -> str:
        """The native module's name of it."""
        return self.value.lower()


@dataclass(frozen=True)
class BoneCore:
    """Asks for a core.

    heads: (b, 3) f64 at rest, metres. parents: (b,) i64, -1 for none. names: hints at parts of the body.
    amount: how much follows the bones, in (0, 1]. rigid: (p,) bool, the points of the surface that are hard,
    or None.
    """

    heads: np.ndarray
    parents: np.ndarray
    names: tuple[str, ...]
    roles: tuple[Role, ...]
    amount: float
    rigid: np.ndarray | None = None

    @property
    def arrays(self) -> tuple[np.ndarray | None, ...]:
        """What of it is a number for each bone or point."""
        return self.heads, self.parents, self.rigid

    @property
    def words(self) -> tuple[object, ...]:
        """The rest of it."""
        return self.names, tuple(role.value for role in self.roles), self.amount

    def native(self) -> "jounce.SkeletonCore":
        """The same for the native module."""
        return jounce.SkeletonCore(
            self.heads,
            self.parents,
            names=self.names,
            roles=[role.native for role in self.roles],
            amount=self.amount,
            rigid=self.rigid,
        )

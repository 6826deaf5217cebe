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
    or None. still: of each bone, whether nothing moves it but what it hangs on; empty where none is.
    """

    heads: np.ndarray
    parents: np.ndarray
    names: tuple[str, ...]
    roles: tuple[Role, ...]
    amount: float
    rigid: np.ndarray | None = None
    still: tuple[bool, ...] = ()

    @property
    def arrays(self) -> tuple[np.ndarray | None, ...]:
        """What of it is a number for each bone or point."""
        return self.heads, self.parents, self.rigid

    @property
    def words(self) -> tuple[object, ...]:
        """The rest of it."""
        said = (self.names, tuple(role.value for role in self.roles), self.amount)
        return (*said, self.still) if self.still else said

    def native(self, resolution: int) -> "jounce.SkeletonCore":
        """The same for the native module. resolution: where what is thin is found."""
        return jounce.SkeletonCore(
            self.heads,
            self.parents,
            names=self.names,
            roles=[role.native for role in self.roles],
            amount=self.amount,
            rigid=self.rigid,
            still=self.still or None,
            resolution=resolution,
        )

    def swings(self, roles: list[str]) -> np.ndarray:
        """Which bones swing freely in a body of these roles, (b,) bool, without being told to."""
        found = zip(self.roles, roles, strict=True)
        return np.array([asked is Role.AUTOMATIC and role == Role.FREE.native for asked, role in found])


def still_bones(parents: np.ndarray, moved: np.ndarray, names: tuple[str, ...]) -> tuple[bool, ...]:
    """Of each bone whether nothing moves it nor what is below it; empty where that is so of none, or of all.

    parents: (b,) i64, -1 for none. moved: (b,) bool. Bones of hands, feet and heads are left out, and so are
    those that have no other still one above or below them, as neither would ever swing by itself.
    """
    hard = np.array([jounce.SkeletonCore.is_hard_name(name) for name in names])
    still = ~(moved | hard)
    for bone in np.flatnonzero(~still):
        above = parents[bone]
        while above >= 0 and still[above]:
            still[above] = False
            above = parents[above]
    has_child = np.zeros(len(still), bool)
    has_child[parents[still & (parents >= 0)]] = True
    still &= has_child | (still[parents] & (parents >= 0))
    return tuple(still.tolist()) if moved.any() and still.any() else ()

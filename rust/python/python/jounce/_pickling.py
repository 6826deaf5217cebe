"""Pickling of the compiled module's objects: each as the call for an equal object."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from typing import Any, NoReturn

from jounce._jounce import Collider, Job, Player


def called(owner: Any, method: str, arguments: tuple[Any, ...], settings: Mapping[str, Any]) -> Any:
    """Result of a method of a class or object, or of a class itself for an empty name."""
    return (getattr(owner, method) if method else owner)(*arguments, **settings)


def only_patch(points: Any, triangles: Any, patch: Any, resolution: int, friction: float) -> Collider:
    """The solid behind a single patch of a surface."""
    (collider,) = Collider.patches(points, triangles, [patch], resolution, friction)
    return collider


def refuse_job(job: Job) -> NoReturn:
    """Refuses to pickle or copy a job."""
    raise TypeError(f"{type(job).__name__}: a job is a running thread; pickle its result")


def refuse_player(player: Player) -> NoReturn:
    """Refuses to pickle or copy a player."""
    raise TypeError("Player: it plays for one program; make another one of the same model")


copyreg.pickle(Job, refuse_job)
for _kind in Job.__subclasses__():
    copyreg.pickle(_kind, refuse_job)
copyreg.pickle(Player, refuse_player)

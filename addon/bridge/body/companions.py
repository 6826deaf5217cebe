"""Finds touching loose bodies, which are read and simulated together."""

from dataclasses import replace

import bpy

from ...core.body import built_bodies
from ...core.common.task import Task
from ...core.common.user_error import UserError
from ..common import registry
from ..loads import colliders
from . import bodies
from .bodies import BodyScene, Companion

# Largest number of touching bodies: the cost of contact grows with its cube.
MOST = 12


def of(host: bpy.types.Object) -> list[bpy.types.Object]:
    """The hosts of the other loose bodies in contact with a body, directly or indirectly, in order."""
    if not host.jounce.is_loose:
        return []
    loose = [obj for obj in registry.meshes() if registry.is_host(obj) and obj.jounce.is_loose]
    touched = {obj: {colliders.soft(obj, other) for other in colliders.acting(obj)} - {None} for obj in loose}
    found, new = {host}, {host}
    while new:
        met = {other for obj in new for other in touched.get(obj, ())}
        met |= {obj for obj, others in touched.items() if others & new}
        new = met - found
        found |= new
    return sorted(found - {host}, key=registry.rank)


def joined(body: BodyScene, context: bpy.types.Context) -> tuple[BodyScene, Task | None]:
    """A body with all companions, or the task that builds a companion not in memory."""
    others = of(body.host)
    if len(others) >= MOST:
        raise UserError(
            f"{body.host.name} and {len(others)} other loose bodies touch each other, and at most {MOST} "
            "can; take some out of their Collision Collections."
        )
    companions = []
    for other in others:
        scene = bodies.read(other, context, lambda _: None)
        settings = other.jounce.build_settings()
        made = built_bodies.CACHE.get(scene.surface.digest(settings))
        if made is None:
            return body, built_bodies.build(scene.surface, settings)
        companions.append(Companion(scene, made))
    return replace(body, companions=tuple(companions)), None


def substeps(hosts: list[bpy.types.Object]) -> int:
    """Number of substeps of touching bodies: the largest of theirs."""
    return max(host.jounce.substeps for host in hosts)


def sentence(host: bpy.types.Object, others: list[bpy.types.Object]) -> str:
    """Sentence about the contact of a body with others."""
    names, most = ", ".join(other.name for other in others), substeps([host, *others])
    more = f"; all take {most} substeps, the most of any" if host.jounce.substeps != most else ""
    return f"{host.name} is simulated as one with {names}{more}."


def why_draft(host: bpy.types.Object) -> str:
    """The reason why a body in contact with others has no final motion; empty for a body alone."""
    others = ", ".join(other.name for other in of(host))
    return f"it touches {others}, and only handles touch each other" if others else ""


def place(body: BodyScene) -> int:
    """Number of companions before a body."""
    rank = registry.rank(body.host)
    return sum(registry.rank(companion.scene.host) < rank for companion in body.companions)


def refuse_lively(host: bpy.types.Object) -> None:
    """Refuses a body in contact with others whose integrator returns the energy of impacts."""
    if host.jounce.integrator != "backward_euler":
        raise UserError(
            f"{host.name} touches other loose bodies, but the integrator Lively allows no contact; choose "
            "Calm in its panel Motion."
        )

"""Surroundings of a body beside its rig: force fields and colliders, as read before and at present."""

from functools import partial

import bpy

from ..body import companions
from ..body.bodies import BodyScene
from ..common import registry
from ..loads import colliders, force_fields


def chosen(host: bpy.types.Object) -> tuple[object, ...]:
    """Settings of a body and of its surroundings, for comparison."""
    hosts = (host, *companions.of(host))
    return tuple(
        (each.session_uid, each.jounce_resolution, *force_fields.chosen(each), *colliders.chosen(each))
        for each in hosts
    )


def is_same(body: BodyScene, scene: bpy.types.Scene) -> bool:
    """True if the surroundings are those of the last reading."""
    if companions.of(body.host) != [other.scene.host for other in body.companions]:
        return False
    return all(map(partial(is_same_alone, scene=scene), body.together))


def is_same_alone(body: BodyScene, scene: bpy.types.Scene) -> bool:
    """The same, without the loose bodies in contact."""
    fields = tuple(force_fields.followed(body.host, scene, lambda _: None))
    return fields == body.forces.fields and colliders.chosen(body.host) == body.colliders.chosen


def is_there(body: BodyScene) -> bool:
    """True if nothing of the surroundings has been deleted."""
    touched = (obj for companion in body.companions for obj in companion.scene.objects)
    acting = (obj for each in body.together for obj in (*each.forces.fields, *each.colliders.objects))
    return all(map(registry.is_there, (*touched, *acting)))

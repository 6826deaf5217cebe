"""What acts on a body beside its rig: force fields and colliders, as they were read and as they are."""

from functools import partial

import bpy

from ..body import companions
from ..body.bodies import BodyScene
from ..common import registry
from . import colliders, force_fields


def chosen(host: bpy.types.Object) -> tuple[object, ...]:
    """What the settings of a body and of what acts on it say, to compare."""
    hosts = (host, *companions.of(host))
    return tuple(
        (each.session_uid, each.jounce_resolution, *force_fields.chosen(each), *colliders.chosen(each))
        for each in hosts
    )


def is_same(body: BodyScene, scene: bpy.types.Scene) -> bool:
    """Whether the same acts on a body as when it was read."""
    if companions.of(body.host) != [other.scene.host for other in body.companions]:
        return False
    return all(map(partial(is_same_alone, scene=scene), body.together))


def is_same_alone(body: BodyScene, scene: bpy.types.Scene) -> bool:
    """The same, the loose bodies aside that it touches."""
    fields = tuple(force_fields.followed(body.host, scene, lambda _: None))
    return fields == body.forces.fields and colliders.chosen(body.host) == body.colliders.chosen


def is_there(body: BodyScene) -> bool:
    """Whether nothing of it has been deleted."""
    touched = (obj for companion in body.companions for obj in companion.scene.objects)
    acting = (obj for each in body.together for obj in (*each.forces.fields, *each.colliders.objects))
    return all(map(registry.is_there, (*touched, *acting)))

"""What acts on a body beside its rig: force fields and colliders, as they were read and as they are."""

import bpy

from ..body.bodies import BodyScene
from ..common import registry
from . import colliders, force_fields


def chosen(host: bpy.types.Object) -> tuple[object, ...]:
    """What the settings of a body and of what acts on it say, to compare."""
    return (*force_fields.chosen(host), *colliders.chosen(host))


def is_same(body: BodyScene, scene: bpy.types.Scene) -> bool:
    """Whether the same acts on a body as when it was read."""
    fields = tuple(force_fields.followed(body.host, scene, lambda _: None))
    return fields == body.forces.fields and colliders.chosen(body.host) == body.colliders.chosen


def is_there(body: BodyScene) -> bool:
    """Whether nothing of it has been deleted."""
    return all(map(registry.is_there, (*body.forces.fields, *body.colliders.objects)))

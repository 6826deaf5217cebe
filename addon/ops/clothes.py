"""Clothes in the click of Add Jounce: found, taken off the body, and kept out of its limbs."""

from collections.abc import Iterator

import bpy

from ..bridge.body import binding, bodies, clothes, roots
from ..bridge.body.clothes import Garment
from ..bridge.common import registry
from ..bridge.inputs import collider_objects
from ..bridge.rig import armature_modifier
from ..core.common.task import Task, scaled
from ..core.common.user_error import UserError
from ..core.flesh.settings import BodyKind
from ..core.mesh.clothes import BENDING, DAMPING, HELD
from .add import mark
from .build import build_body


def hung_beside(meshes: list[bpy.types.Object], context: bpy.types.Context) -> Iterator[bpy.types.Object]:
    """Meshes without Jounce on bones of the selected armatures that move these meshes."""
    rigs = set(armature_modifier.moving(meshes)) & set(context.selected_objects)
    for obj in (obj for rig in rigs for obj in armature_modifier.hung_on(rig, context)):
        if obj in meshes or registry.is_of_body(obj):
            continue
        try:
            bodies.refuse_unfit(obj, lambda _sentence: None)
        except UserError:
            continue
        yield obj


def worn(
    garments: list[Garment], host: bpy.types.Object, context: bpy.types.Context, warn: armature_modifier.Warn
) -> Task:
    """Makes attached bodies of clothes, which collide with the limbs of their wearer, and builds them."""
    for garment in garments:
        mark(garment.host, [], warn)
        state = garment.host.jounce
        state.kind = BodyKind.ATTACHED.value
        state.damping, state.bending = DAMPING, BENDING
        state.hold_frequency = HELD
        binding.bind(garment.host, context)
        surface = bodies.read(garment.host, context, lambda _sentence: None).surface
        roots.pin(garment.host, surface, garment.hold)
    wearer = bodies.read(host, context, lambda _sentence: None)
    hosts = [garment.host for garment in garments]
    collider_objects.put_hulls(wearer, hosts, clothes.swinging(garments, context), context)
    for number, garment in enumerate(garments):
        build = build_body(garment.host, context, warn)
        yield from scaled(build, number / len(garments), (number + 1) / len(garments))
    names = ", ".join(obj.name for obj in hosts)
    return f"{names}: swings as cloth"


def take_back(host: bpy.types.Object) -> None:
    """Restores the clothes of a body to their state before it was begun."""
    for obj in bodies.clothes_of(host):
        collider_objects.forget(obj)
        roots.forget(obj)
        clothes.forget(obj)

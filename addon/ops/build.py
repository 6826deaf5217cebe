"""jounce.build: makes the model of a body."""

from collections.abc import Generator
from dataclasses import dataclass

import bpy
import jounce

from ..bridge.body import binding, bodies, builds
from ..bridge.preview import previews
from ..bridge.rig.armature_modifier import Warn
from ..core.body import built_bodies
from ..core.common.task import Step, Task, in_turn
from . import needs
from .operator import LongOperator

Bound = dict[tuple[bpy.types.Object, str], tuple[float, ...] | str | None]


class JOUNCE_OT_build(LongOperator):
    """Build the volume, the modes and the model of the selected bodies from their meshes and rigs"""

    bl_idname = "jounce.build"
    bl_label = "Build"
    bl_options = {"UNDO"}
    needs = (needs.own_bodies, needs.out_of_edit_mode)

    def task(self, context: bpy.types.Context) -> Task:
        """Builds one body after the other, and keeps all of them at the end."""
        hosts = bodies.dressed(bodies.hosts(context))
        made = yield from in_turn(build(host, context, self.warn) for host in hosts)
        return "; ".join(keep(each, context) for each in made)


def then_seen(host: bpy.types.Object) -> str:
    """End of a report: when a change of the build's inputs takes effect."""
    return "the preview shows it in a moment" if host.jounce.preview else "build to see it"


@dataclass(frozen=True)
class Built:
    """A built body, not yet kept. bound: binding data of its meshes."""

    scene: bodies.BodyScene
    bound: Bound
    body: "jounce.Body"
    digest: str
    message: str


def build_body(host: bpy.types.Object, context: bpy.types.Context, warn: Warn) -> Task:
    """Builds the body of a host in the present place of its meshes, and keeps the body."""
    return keep((yield from build(host, context, warn)), context)


def build(host: bpy.types.Object, context: bpy.types.Context, warn: Warn) -> Generator[Step, None, Built]:
    """Builds the body of a host in the present place of its meshes; the file's data stays unchanged."""
    before = bound_of(host)
    try:
        binding.bind(host, context)
        bound, scene = bound_of(host), bodies.read(host, context, warn)
    finally:
        put_bound(before)
    settings = host.jounce.build_settings()
    message = yield from built_bodies.build(scene.surface, settings)
    digest = scene.surface.digest(settings)
    return Built(scene, bound, built_bodies.CACHE.get(digest), digest, message)


def keep(made: Built, context: bpy.types.Context, fit: builds.FitOfParts | None = None) -> str:
    """Keeps a built body with its host, and describes the body. fit: with which it was built."""
    put_bound(made.bound)
    builds.remember(made.scene, made.body, made.digest, made.message, context, fit)
    previews.renew(made.scene.host)
    return f"{made.scene.host.name}: {made.message}"


def bound_of(host: bpy.types.Object) -> Bound:
    """Binding data of each mesh of a body; None for unbound meshes."""
    found: Bound = {}
    for obj in bodies.members(host):
        for name in binding.KEPT:
            value = getattr(obj.jounce, name) if obj.jounce.is_property_set(name) else None
            found[obj, name] = value if value is None or isinstance(value, str) else tuple(value)
    return found


def put_bound(bound: Bound) -> None:
    """Restores binding data from `bound_of`."""
    for (obj, name), value in bound.items():
        if value is None:
            obj.jounce.property_unset(name)
        else:
            setattr(obj.jounce, name, value)

"""jounce.setup: from a rigged mesh to a moving body in one click."""

from collections.abc import Generator

import bpy

from ..bridge.bake import bakes
from ..bridge.body import binding, bodies, clothes, roots
from ..bridge.common import linked_mesh_proxy, registry
from ..bridge.preview import previews
from ..bridge.rig import armature_modifier, bone_transforms
from ..bridge.rig.meshes import vertex_count
from ..core.body import built_bodies, sensible
from ..core.common.task import Step, Task, in_turn, scaled
from ..core.common.user_error import UserError
from ..core.flesh.settings import BodyKind, Target
from ..core.mesh.roots import is_at_both_ends
from ..core.shot import fitting
from ..props.bake import TARGETS
from . import needs
from .add import mark, warn_of_others
from .build import build_body
from .clothes import hung_beside, take_back, worn
from .fit import FITTED, keep_fit, searched, shot
from .operator import LongOperator

# Number of frames for choosing the frequency; more take long with heavy rigs.
FITTED_FRAMES = 120

# Motion of a body without a fit in words, by its kind.
MOVES = {
    BodyKind.RIGGED: "follows its bones",
    BodyKind.LOOSE: "falls, bounces and rolls",
    BodyKind.ATTACHED: "swings as cloth",
    BodyKind.PINNED: "sways from its root",
}


class NoFlesh(UserError):
    """Refusal of a prop or a machine, all of which follows its bones rigidly."""


class JOUNCE_OT_setup(LongOperator):
    """Give flesh to the selected meshes, or to all meshes of each selected armature, and build it"""

    bl_idname = "jounce.setup"
    bl_label = "Add Jounce"
    bl_options = {"UNDO"}
    needs = (needs.character, needs.out_of_edit_mode)

    def task(self, context: bpy.types.Context) -> Task:
        """Adds, builds and previews each character; stopped or refused, nothing was added."""
        found = chosen(context, self.warn)
        new = [obj for meshes in found for obj in meshes if not registry.is_of_body(obj)]
        finished = False
        try:
            tried = yield from in_turn(tried_on(meshes, context, self.warn) for meshes in found)
            refusals = [refusal for refusal in tried if isinstance(refusal, NoFlesh)]
            if len(refusals) == len(found):
                raise refusals[0]
            for refusal in refusals:
                self.warn(str(refusal))
            for meshes, message in zip(found, tried, strict=True):
                if message not in refusals:
                    [host] = [obj for obj in meshes if registry.is_host(obj) and not registry.is_worn(obj)]
                    for each in bodies.dressed([host]):
                        show(each, self.warn)
                    warn_of_others(host, self.warn)
            finished = True
        finally:
            if not finished:
                unmark(new)
        return "; ".join(message for message in tried if isinstance(message, str))


def tried_on(
    meshes: list[bpy.types.Object], context: bpy.types.Context, warn: armature_modifier.Warn
) -> Generator[Step, None, str | NoFlesh]:
    """Makes one body of meshes, and leaves a prop as it is."""
    new = [obj for obj in meshes if not registry.is_of_body(obj)]
    try:
        return (yield from made(meshes, context, warn))
    except NoFlesh as refusal:
        unmark(new)
        return refusal


def unmark(meshes: list[bpy.types.Object]) -> None:
    """Restores meshes to their state before a body was begun with them."""
    for obj in meshes:
        take_back(obj)
    for obj in meshes:
        roots.forget(obj)
        clothes.forget(obj)


def made(meshes: list[bpy.types.Object], context: bpy.types.Context, warn: armature_modifier.Warn) -> Task:
    """Makes one body of meshes, the host first, and of their clothes a body each, and builds them."""
    host, *others = meshes
    mark(host, others, warn)
    yield Step(0.0, "Looking at the body")
    garments = undressed(host, context)
    if not registry.is_host(host):
        # The active mesh is a piece of clothing.
        return (yield from made([*others, host], context, warn))
    scene = None
    if not pinned(host, context, warn):
        scene = (choose_loose if bodies.is_held_by_nothing(host) else choose)(host, context, warn)
    making = plainly(host, context, warn) if scene is None else fleshed(scene, context, warn)
    message = yield from scaled(making, 0.05, 0.9 if garments else 1.0)
    choose_target(host, context, warn)
    if garments:
        dressed = yield from scaled(worn(garments, host, context, warn), 0.9, 1.0)
        message = f"{message}; {dressed}"
        for garment in garments:
            choose_target(garment.host, context, warn)
    return message


def undressed(host: bpy.types.Object, context: bpy.types.Context) -> list[clothes.Garment]:
    """Takes the clothes of a character out of its body; a host that is one itself is unmarked.

    What hangs on bones beside the body is looked at too.
    """
    members = list(bodies.members(host))
    beside = list(hung_beside(members, context))
    for obj in beside:
        obj.jounce.host = host
    on: dict[bpy.types.Object, list[clothes.Cloth]] = {}
    try:
        if armature_modifier.moving(members):
            binding.bind(host, context)
            on = clothes.found(bodies.read(host, context, lambda _sentence: None))
        whole = {obj for obj, own in on.items() if clothes.is_whole(obj, own)}
        if set(members) <= whole:
            return []
        if host in whole:
            unmark(members)
            return []
        return clothes.taken_off(host, on)
    finally:
        for obj in beside:
            if obj.jounce.host == host and not registry.is_worn(obj):
                obj.property_unset("jounce")


def fleshed(scene: bodies.BodyScene, context: bpy.types.Context, warn: armature_modifier.Warn) -> Task:
    """Fits a body to the shot and builds it; flapping flesh becomes an attached body."""
    host = scene.host
    sketch = yield from scaled(built_bodies.sketch(scene.surface, host.jounce.build_settings()), 0.0, 0.1)
    if unmoved := built_bodies.held_skin(sketch, scene.surface):
        warn(unmoved)
        return (yield from scaled(plainly(host, context, warn), 0.1, 1.0))
    search = searched(scene, shot(context.scene)[:FITTED_FRAMES], context)
    found = yield from scaled(search, 0.1, 0.9)
    message = keep_fit(found, context)
    if flaps(host, context):
        attach(host, warn)
        message = yield from scaled(plainly(host, context, warn), 0.9, 1.0)
    return message


def plainly(host: bpy.types.Object, context: bpy.types.Context, warn: armature_modifier.Warn) -> Task:
    """Builds a body without a fit, and describes its motion."""
    yield from build_body(host, context, warn)
    return f"{host.name}: {MOVES[BodyKind(host.jounce.kind)]}"


def chosen(context: bpy.types.Context, warn: armature_modifier.Warn) -> list[list[bpy.types.Object]]:
    """The meshes of each future body, its host first; warns about omitted meshes.

    The whole selection is one body, unless independent rigs move it, or none, and it is apart.
    """
    active = needs.character(context)
    selected = [active, *(obj for obj in context.selected_objects if obj != active)]
    rigs = rigs_of(selected)
    if not rigs:
        return without_rigs(active, [obj for obj in selected if obj.type == "MESH"], context, warn)
    characters = bone_transforms.apart(list(dict.fromkeys(rigs.values())))
    if len(characters) < 2:
        return [of_one(active, context)]
    found = []
    for character in characters:
        meshes = [obj for obj, rig in rigs.items() if rig in character and obj.type == "MESH"]
        meshes = meshes or [obj for rig in character for obj in armature_modifier.moved_by(rig, context)]
        names = " and ".join(rig.name for rig in character)
        if any(bodies.host_of(obj) is not None for obj in meshes):
            warn(f"The meshes of {names} have Jounce already and stay as they are.")
        elif meshes:
            found.append(sorted(meshes, key=lambda obj: (obj != active, -vertex_count(obj))))
        else:
            warn(f"{names} moves no mesh, so it was left out.")
    for obj in selected:
        if obj.type == "MESH" and obj not in rigs:
            warn(f"No rig moves {obj.name}, so it was left out; Add to Body makes it a part of one body.")
    if not found:
        raise UserError("No selected object can get Jounce; select characters without Jounce.")
    return found


def without_rigs(
    active: bpy.types.Object,
    selected: list[bpy.types.Object],
    context: bpy.types.Context,
    warn: armature_modifier.Warn,
) -> list[list[bpy.types.Object]]:
    """The meshes of each future body that no rig moves, its host first: those that touch, or are parented."""
    found = []
    for group in roots.together(selected, context):
        taken = next((obj for obj in group if bodies.host_of(obj) is not None), None)
        if taken is None:
            found.append(sorted(group, key=lambda obj: (obj != active, -vertex_count(obj))))
        else:
            warn(f"{taken.name} has Jounce already and stays as it is, with all that touches it.")
    return found


def rigs_of(objects: list[bpy.types.Object]) -> dict[bpy.types.Object, bpy.types.Object]:
    """Armatures, and meshes with the armature that moves each, if any."""
    found = {obj: obj for obj in objects if obj.type == "ARMATURE"}
    for obj in (obj for obj in objects if obj.type == "MESH"):
        for rig in armature_modifier.moving([obj]):
            found[obj] = rig
    return found


def of_one(active: bpy.types.Object, context: bpy.types.Context) -> list[bpy.types.Object]:
    """The meshes of the single future body, its host first."""
    if active.type == "ARMATURE":
        meshes = armature_modifier.moved_by(active, context)
        if not meshes:
            raise UserError(f"{active.name} moves no mesh; select the character's meshes.")
        host = meshes[0]
    else:
        meshes, host = [obj for obj in context.selected_objects if obj.type == "MESH"], active
    if bodies.host_of(host) is not None:
        raise UserError(f"{host.name} has Jounce already.")
    return [host, *(obj for obj in meshes if obj != host)]


def choose(
    host: bpy.types.Object, context: bpy.types.Context, warn: armature_modifier.Warn
) -> bodies.BodyScene | None:
    """Chooses settings for the body from its shape and its rig; its scene, None for an attached body.

    A sheet becomes an attached body. The chosen settings are none that a scene depends on.
    """
    said: list[str] = []
    binding.bind(host, context)
    host.jounce.bone_core = sensible.BONE_CORE
    scene = bodies.read(host, context, said.append)
    surface = scene.surface
    surface.refuse_unusable()
    if sensible.is_thin(surface) and bodies.are_linear(bodies.members(host)):
        attach(host, warn)
        return None
    if surface.core is not None and surface.core.is_hard:
        raise NoFlesh(
            f"{host.name} follows its bones rigidly, like a prop or a machine, and stays unchanged; for "
            "flesh, give a bone of it the Role Flesh, or of a thin part the Role Free, in the tab Bone."
        )
    host.jounce.resolution = sensible.resolution(surface)
    host.jounce.modes, host.jounce.clusters = sensible.MODES, sensible.CUBATURE
    for sentence in said:
        warn(sentence)
    return scene


def flaps(host: bpy.types.Object, context: bpy.types.Context) -> bool:
    """True for a body thinner than cells of a common size that moves too far at any frequency."""
    if host.jounce.frequency < fitting.FLAPPING:
        return False
    surface = bodies.read(host, context, lambda _sentence: None).surface
    return sensible.is_thin(surface, sensible.FIRST_RESOLUTION)


def attach(host: bpy.types.Object, warn: armature_modifier.Warn) -> None:
    """Makes a body of sheets an attached one; refuses one that more than an armature poses."""
    if not bodies.are_linear(bodies.members(host)):
        raise UserError(
            f"{host.name} encloses no flesh, and as a sheet it would flap; apply the modifiers and shape "
            "keys that move its vertices beside the armature, and it becomes an attached body."
        )
    for name in FITTED:
        host.jounce.property_unset(name)
    host.jounce.kind = BodyKind.ATTACHED.value
    warn(
        f"{host.name} encloses no flesh, so it is an attached body that its bones hold softly; paint the map "
        "Pin where they hold it firmly."
    )


def pinned(host: bpy.types.Object, context: bpy.types.Context, warn: armature_modifier.Warn) -> bool:
    """Chooses settings for a prop that sways from a root, and makes its map; false for other bodies."""
    if roots.is_rigged(host):
        return False
    binding.bind(host, context)
    surface = bodies.read(host, context, lambda _sentence: None).surface
    surface.refuse_unusable()
    root = roots.of(host, surface, context)
    if root is None:
        return False
    linked = next((obj for obj in bodies.members(host) if linked_mesh_proxy.is_foreign(obj.data)), None)
    if linked is not None:
        warn(
            f"{host.name} would sway from its root, but the mesh of {linked.name} is linked, so that no map "
            "Pin can be kept here; make it local, and add Jounce again."
        )
        return False
    if not bodies.are_linear(bodies.members(host)):
        warn(
            f"{host.name} would sway from its root, but modifiers or shape keys move its vertices; apply "
            "them or take them off, and add Jounce again."
        )
        return False
    state = host.jounce
    roots.pin(host, surface, root.pinned.astype(float))
    state.kind, state.resolution = BodyKind.PINNED.value, sensible.resolution(surface, sensible.PINNED_TETS)
    state.integrator, state.damping = "bdf2", sensible.SWING_DAMPING
    if is_at_both_ends(surface.points, root.pinned):
        state.pieces = sensible.ROPE_PIECES
    warn(roots.sentence(host, root))
    return True


def choose_loose(host: bpy.types.Object, context: bpy.types.Context, _warn: armature_modifier.Warn) -> None:
    """Chooses settings for a loose body from its size: falling, and firm enough to stand."""
    state = host.jounce
    state.kind, state.use_gravity = BodyKind.LOOSE.value, True
    binding.bind(host, context)
    surface = bodies.read(host, context, lambda _sentence: None).surface
    surface.refuse_unusable()
    state.resolution = sensible.loose_resolution(surface)
    state.handles, state.clusters = sensible.LOOSE_HANDLES, sensible.LOOSE_CLUSTERS
    state.frequency = sensible.loose_frequency(surface.diagonal)


def choose_target(host: bpy.types.Object, context: bpy.types.Context, warn: armature_modifier.Warn) -> None:
    """Sets the first supported bake target of the body, and gives the reason for a change."""
    refusals: dict[str, UserError] = {}
    for target in (host.jounce.target, Target.SKINNING_NODES.value, Target.MESH_CACHE.value):
        try:
            bakes.refuse(host, target, context.scene)
        except UserError as refusal:
            refusals[target] = refusal
            continue
        if refusals:
            host.jounce.target = target
            warn(f"Bake To is {bake_name(host)}: {next(iter(refusals.values()))}")
        return


def bake_name(host: bpy.types.Object) -> str:
    """The panel's name of the bake of a body."""
    return next(name for value, name, _ in TARGETS if value == host.jounce.target)


def show(host: bpy.types.Object, warn: armature_modifier.Warn) -> None:
    """Switches the preview on, or names a bake for a body without a preview."""
    try:
        previews.refuse_unusable(host)
    except UserError as refusal:
        warn(f"{host.name} has no preview, and bakes to {bake_name(host)}: {refusal}")
    else:
        previews.switch_on(host)

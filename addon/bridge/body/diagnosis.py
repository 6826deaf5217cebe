"""Diagnosis of the meshes of a body: findings of one sentence each, some with a fix."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace

import bpy
import jounce
import numpy as np

from ...core.body import built_bodies, sensible
from ...core.common.user_error import UserError
from ...core.mesh import shape_checks
from ...core.mesh.rest_check import is_crumpled
from ...core.mesh.surface import Surface
from ...core.rig.bone_core import Role
from ..common import evaluation, linked_mesh_proxy, registry
from ..loads import colliders, force_fields
from ..rig import armature_modifier, bone_transforms, driven_keys, meshes, modifier_stack, rig_stack
from . import bodies, overrides, weight_maps, wholeness

# Sizes in metres outside of which gravity and materials act unlike the apparent size.
SMALLEST, LARGEST = 0.02, 50.0
# Meshes to add to a body, and the number of refused meshes.
Joining = tuple[list[bpy.types.Object], int]
# Up to this number, meshes attached to bones are separate findings; more are summed up in one.
FEW = 8


@dataclass(frozen=True)
class Finding:
    """A possible problem of an object.

    fix: name of the function in FIXES for the problem; "animate" for an action as the fix; or empty. detail:
    the affected item, such as the name of a modifier.
    """

    sentence: str
    obj: str
    fix: str = ""
    detail: str = ""


def keep(host: bpy.types.Object, context: bpy.types.Context, seen: Iterable[Finding] = ()) -> int:
    """Stores the findings about a body, preview included, on its host; returns their number."""
    return keep_all(host, [*findings(host, context), *seen])


def keep_all(host: bpy.types.Object, found: list[Finding]) -> int:
    """Stores findings on a host; returns their number."""
    state = host.jounce
    state.findings.clear()
    for number, finding in enumerate(found, start=1):
        kept = state.findings.add()
        kept.name = f"Finding {number}"
        for field in fields(finding):
            setattr(kept, field.name, getattr(finding, field.name))
    state.is_diagnosed = True
    return len(state.findings)


def await_build(host: bpy.types.Object) -> None:
    """Stores that a new body is not built, for a diagnosis after its build."""
    keep_all(host, [unbuilt(host)])


def kept_as(finding: bpy.types.PropertyGroup) -> Finding:
    """A stored finding in its original form."""
    return Finding(**{field.name: getattr(finding, field.name) for field in fields(Finding)})


def renew(host: bpy.types.Object, fix: str, context: bpy.types.Context) -> None:
    """Repeats the diagnosis if a finding with this fix is stored, which may be resolved now; not in Edit
    Mode.
    """
    if not context.mode.startswith("EDIT") and any(kept.fix == fix for kept in host.jounce.findings):
        keep(host, context)


def findings(host: bpy.types.Object, context: bpy.types.Context) -> list[Finding]:
    """All findings about a body, in the recommended order of fixing."""
    objects = bodies.members(host)
    found = [mendable(finding, obj) for obj in objects for finding in of_mesh(obj)]
    found += [Finding(lack.sentence, host.name) for lack in wholeness.lacks(host, context)]
    found += of_maps(host, objects)
    found += of_armatures(host, objects)
    found += of_left_out(host, objects, context)
    found += of_fleshless(objects)
    found += of_forces(host, context.scene)
    found += of_collisions(host, objects, context)
    if not any(is_refused(obj) for obj in objects):
        found += of_body(host, context)
    return found


def mendable(finding: Finding, obj: bpy.types.Object) -> Finding:
    """A finding, without its fix if the fix would not be saved in this file."""
    lost = finding.fix in CHANGES_MESH and linked_mesh_proxy.is_foreign(obj.data)
    return replace(finding, fix="") if lost else finding


def is_refused(obj: bpy.types.Object) -> bool:
    """True if a mesh cannot be part of a body in its present state."""
    try:
        meshes.refuse_unusable(obj)
    except UserError:
        return True
    return False


def of_mesh(obj: bpy.types.Object) -> Iterator[Finding]:
    """Findings about one mesh."""
    if obj.mode != "EDIT" and obj.library is None and obj.data.library is None:
        sharing = meshes.sharer(obj)
        if sharing is not None:
            sentence = f"{obj.name} shares its mesh with {sharing.name}, which would get the same shape keys."
            yield Finding(sentence, obj.name, "make_single_user")
            return
    try:
        meshes.refuse_unusable(obj)
    except UserError as refusal:
        yield Finding(str(refusal), obj.name)
        return
    if linked_mesh_proxy.is_foreign(obj.data):
        sentence = f"The mesh of {obj.name} is linked: shape keys and paint of this file would be lost."
        yield Finding(sentence, obj.name, "make_mesh_local")
    if overrides.is_locked(obj):
        sentence = f"Blender locks the settings of {obj.name}, as its library override is not editable."
        yield Finding(sentence, obj.name, "make_editable")
    if obj.hide_viewport:
        sentence = f"{obj.name} is disabled in viewports, so its motion cannot be read."
        yield Finding(sentence, obj.name, "enable")
    if obj.data.shape_keys is not None and obj.show_only_shape_key:
        sentence = f"{obj.name} shows only its active shape key, so a bake would not be seen."
        yield Finding(sentence, obj.name, "unpin_shape_key")
    yield from of_shape(obj)
    yield from of_modifiers(obj)
    yield from of_weights(obj)


def of_shape(obj: bpy.types.Object) -> Iterator[Finding]:
    """Findings about the mesh's own shape."""
    points = meshes.rest_points(obj)
    stray = shape_checks.strays(points)
    if len(stray):
        sentence = f"{len(stray)} vertices of {obj.name} lie far outside of the rest."
        yield Finding(sentence, obj.name, "select_strays")


def of_modifiers(obj: bpy.types.Object) -> Iterator[Finding]:
    """Modifiers that hide the mesh's own vertices from the armature, or prevent a preview."""
    try:
        modifier_stack.refuse_nodes(obj)
    except UserError as refusal:
        yield Finding(str(refusal), obj.name)
    hinders = rig_stack.stack(obj).hinders
    if hinders:
        sentence = f"The modifier {hinders} of {obj.name} changes vertices before the armature."
        yield Finding(sentence, obj.name, "move_armature_up", hinders)


def of_weights(obj: bpy.types.Object) -> Iterator[Finding]:
    """Vertices with missing bone weights or a sum other than one."""
    weights = bone_weights(obj)
    if weights.shape[1] == 0:
        return
    missing, uneven = shape_checks.without_weight(weights), shape_checks.not_normalised(weights)
    if 0 < len(missing) < len(weights):
        sentence = f"{len(missing)} vertices of {obj.name} have no bone weight, so no bone moves them."
        yield Finding(sentence, obj.name, "select_unweighted")
    if len(uneven):
        sentence = f"The bone weights of {len(uneven)} vertices of {obj.name} do not sum to 1."
        yield Finding(sentence, obj.name, "normalise_weights")


def bone_weights(obj: bpy.types.Object) -> np.ndarray:
    """Weights (p, b) of the vertex groups of deforming bones, as input of the mesh's armature."""
    columns, live = bone_groups(obj), rig_stack.stack(obj).groups
    if not columns:
        return np.zeros((len(obj.data.vertices), 0))
    return (meshes.group_weights(obj) if live is None else live)[:, columns]


def bone_groups(obj: bpy.types.Object) -> list[int]:
    """Indices of the vertex groups of the armature's deforming bones."""
    armature = obj.find_armature()
    if armature is None:
        return []
    deforming = {bone.name for bone in armature.data.bones if bone.use_deform}
    return [group.index for group in obj.vertex_groups if group.name in deforming]


def of_maps(host: bpy.types.Object, objects: tuple[bpy.types.Object, ...]) -> Iterator[Finding]:
    """Maps whose group is on none of the meshes."""
    for setting, label in weight_maps.SETTINGS.values():
        name = getattr(host.jounce, setting)
        if name and not any(name in obj.vertex_groups for obj in objects):
            sentence = f"The vertex group {name} of the map {label} is on no mesh of {host.name}."
            yield Finding(sentence, host.name, "clear_map", setting)


def of_armatures(host: bpy.types.Object, objects: tuple[bpy.types.Object, ...]) -> Iterator[Finding]:
    """Armatures unable to move the body; a loose body needs none."""
    if host.jounce.is_loose:
        return
    found = armature_modifier.moving(objects)
    for armature in found:
        if armature.data.pose_position == "REST":
            sentence = f"{armature.name} is in Rest Position, so it does not move."
            yield Finding(sentence, armature.name, "use_pose_position")
    movers = [*found, *objects]
    still = not any(rig_stack.stack(obj).moves or driven_keys.animated(obj) for obj in objects) and not any(
        bone_transforms.is_animated(obj) or obj.constraints or has_bone_constraints(obj) for obj in movers
    )
    if still and not any(
        bone_transforms.is_animated(above) for obj in movers for above in bone_transforms.ancestors(obj)
    ):
        sentence = f"Nothing moves {host.name}: neither bones nor object are animated."
        yield Finding(sentence, host.name, "animate")


def of_left_out(
    host: bpy.types.Object, objects: tuple[bpy.types.Object, ...], context: bpy.types.Context
) -> Iterator[Finding]:
    """Meshes deformed or carried by the body's armatures without a body of their own."""
    for armature in armature_modifier.moving(objects):
        meshes = left_out(armature, host, context)
        if any(armature_modifier.hangs_on(obj, armature) for obj in meshes):
            rigid = rigid_bones(host, context)
            meshes = [
                obj
                for obj in meshes
                if not armature_modifier.hangs_on(obj, armature)
                or armature_modifier.bone_of(obj, armature) not in rigid
            ]
        if len(meshes) > FEW:
            which = f"{len(meshes)} meshes of {armature.name} are no part of {host.name}"
            yield Finding(f"{which}: flesh may cover or pierce them.", armature.name, "add_all_to_body")
            continue
        for obj in meshes:
            if armature_modifier.hangs_on(obj, armature):
                which = f"{obj.name} hangs on a bone of {armature.name}"
                sentence = f"{which}: it stays rigid, flesh may cover it."
            else:
                which = f"{obj.name} follows {armature.name} and is no part of {host.name}"
                sentence = f"{which}: flesh may come through it."
            yield Finding(sentence, obj.name, "add_to_body")


def of_fleshless(objects: tuple[bpy.types.Object, ...]) -> Iterator[Finding]:
    """Meshes of the body without flesh in the last build."""
    for obj in objects:
        if obj.jounce.left_out:
            yield Finding(f"{obj.name} {obj.jounce.left_out}, so it gets no flesh of its own.", obj.name)
        follows = None if obj.jounce.left_out else meshes.following(obj)
        if follows is not None:
            vertices = f"{np.count_nonzero(follows)} of {len(follows)} vertices of {obj.name}"
            sentence = f"{vertices} already follow another mesh, so they get no flesh of their own."
            yield Finding(sentence, obj.name)


def left_out(
    armature: bpy.types.Object, host: bpy.types.Object, context: bpy.types.Context
) -> list[bpy.types.Object]:
    """The visible meshes of an armature outside of any body and of this body's colliders."""
    apart = colliders.acting(host)
    deformed = armature_modifier.deformed_by(armature, context)
    seen = [obj for obj in deformed if obj.visible_get(view_layer=context.view_layer)]
    meshes = [*seen, *armature_modifier.hung_on(armature, context)]
    return [obj for obj in meshes if not registry.is_of_body(obj) and obj not in apart]


def rigid_bones(host: bpy.types.Object, context: bpy.types.Context) -> set[str]:
    """Names of the bones without soft flesh in the last build; none for inputs changed since."""
    body = built_bodies.CACHE.get(host.jounce.built_digest)
    if not isinstance(body, jounce.Body):
        return set()
    try:
        core = bodies.read(host, context, lambda _sentence: None).surface.core
    except UserError:
        return set()
    names = () if core is None else core.names
    if len(names) != len(body.roles):
        return set()
    return {name for name, role in zip(names, body.roles, strict=True) if role == "rigid"}


def of_forces(host: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[Finding]:
    """Force fields that act differently here than in Blender."""
    for obj in force_fields.acting(host, scene):
        sentence = force_fields.left_out_of(host, obj)
        if sentence:
            yield Finding(sentence, obj.name)


def of_collisions(
    host: bpy.types.Object, objects: tuple[bpy.types.Object, ...], context: bpy.types.Context
) -> Iterator[Finding]:
    """Obstacles to the collisions of a body, and objects that are no colliders."""
    for sentence, fix in colliders.hindrances(host):
        yield Finding(sentence, host.name, fix)
    for obj in colliders.acting(host):
        sentence, fix = colliders.trouble(obj, objects, context)
        if sentence:
            yield Finding(sentence, obj.name, fix)


def has_bone_constraints(obj: bpy.types.Object) -> bool:
    """True if bones of an armature have constraints."""
    return obj.type == "ARMATURE" and any(bone.constraints for bone in obj.pose.bones)


def of_body(host: bpy.types.Object, context: bpy.types.Context) -> Iterator[Finding]:
    """Findings that need the whole body."""
    if not host.jounce.built_digest:
        yield unbuilt(host)
        return
    changed = Finding(f"{host.name} has changed since it was built.", host.name, "build")
    if not all(bodies.is_bound(obj) for obj in bodies.members(host)):
        yield changed
        return
    try:
        scene = bodies.read(host, context, lambda _sentence: None)
    except UserError as refusal:
        yield Finding(str(refusal), host.name)
        return
    size = scene.surface.diagonal
    if not SMALLEST <= size <= LARGEST:
        yield Finding(
            f"{host.name} measures {size:.3g} m at the scene's unit scale; gravity and materials act as on a "
            "body of that size.",
            host.name,
        )
    if scene.surface.digest(host.jounce.build_settings()) != host.jounce.built_digest:
        yield changed
    yield from of_flesh(host, scene.surface)
    try:
        pose = scene.reader.read(evaluation.depsgraph(context))
    except UserError as refusal:
        yield Finding(f"In this frame {refusal}.", host.name)
        return
    if is_crumpled(scene.surface, pose):
        sentence = f"The rest shape of {host.name} is unlike its posed shape; apply a good pose as rest pose."
        yield Finding(sentence, host.name)


def unbuilt(host: bpy.types.Object) -> Finding:
    """A body before its first build."""
    return Finding(f"{host.name} is not built yet.", host.name, "build")


def of_flesh(host: bpy.types.Object, surface: Surface) -> Iterator[Finding]:
    """A body that is to be flesh and encloses none, or shows none."""
    if unmoved := built_bodies.held_skin(built_bodies.CACHE.get(host.jounce.built_digest), surface):
        yield Finding(unmoved, host.name)
    if host.jounce.is_flesh and sensible.is_thin(surface):
        can_hang = bodies.are_linear(bodies.members(host))
        remedy = "make it" if can_hang else "apply its other modifiers and shape keys, and make it"
        sentence = f"{host.name} encloses no flesh, so it flaps; {remedy} an attached body."
        yield Finding(sentence, host.name, "make_attached" if can_hang else "")


def select(obj: bpy.types.Object, vertices: np.ndarray, context: bpy.types.Context) -> None:
    """Enters Edit Mode on an object with these vertices selected."""
    meshes.refuse_hidden(obj)
    context.view_layer.objects.active = obj
    context.scene.tool_settings.mesh_select_mode = (True, False, False)
    bpy.ops.object.mode_set(mode="EDIT")
    # Blender 5.0 crashes if edges are deselected from outside.
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    chosen = np.zeros(len(obj.data.vertices), bool)
    chosen[vertices] = True
    obj.data.vertices.foreach_set("select", chosen)
    bpy.ops.object.mode_set(mode="EDIT")


def normalise_weights(obj: bpy.types.Object) -> None:
    """Divides the bone weights of each vertex by their sum."""
    columns = bone_groups(obj)
    weights = bone_weights(obj)
    uneven = shape_checks.not_normalised(weights)
    scaled = weights[uneven] / weights[uneven].sum(axis=1, keepdims=True)
    for vertex, row in zip(uneven.tolist(), scaled, strict=True):
        for column in np.flatnonzero(row):
            obj.vertex_groups[columns[column]].add([vertex], float(row[column]), "REPLACE")


def move_armature_up(obj: bpy.types.Object, before: str) -> None:
    """Moves the first armature modifier to the place of another one."""
    names = [modifier.name for modifier in obj.modifiers]
    armature = next(index for index, modifier in enumerate(obj.modifiers) if modifier.type == "ARMATURE")
    obj.modifiers.move(armature, names.index(before))


def joining(fix: str, obj: bpy.types.Object, host: bpy.types.Object, context: bpy.types.Context) -> Joining:
    """The meshes that a fix adds to a body, and the number of others that cannot be added; none for other
    fixes.

    Refuses if none can be added, with the reason of the first.
    """
    wanted = {"add_to_body": lambda: [obj], "add_all_to_body": lambda: left_out(obj, host, context)}
    able: list[bpy.types.Object] = []
    refused: list[UserError] = []
    for candidate in wanted.get(fix, list)():
        try:
            bodies.refuse_joining(candidate, host, lambda _sentence: None)
            able.append(candidate)
        except UserError as refusal:
            refused.append(refusal)
    if not able and refused:
        raise refused[0]
    return able, len(refused)


def make_single_user(obj: bpy.types.Object) -> None:
    """Gives an object a mesh of its own."""
    obj.data = obj.data.copy()


# The fixes that change the mesh itself.
CHANGES_MESH = frozenset(["select_strays", "select_unweighted", "normalise_weights"])

Fix = Callable[[bpy.types.Object, str, bpy.types.Context], object]

# Button text of each fix, and its effect on the object with the detail of the finding; no effect for those
# that build.
FIXES: dict[str, tuple[str, Fix | None]] = {
    "make_single_user": ("Make Single User", lambda obj, _detail, _context: make_single_user(obj)),
    "make_mesh_local": ("Make Mesh Local", lambda obj, _detail, _context: make_single_user(obj)),
    "make_editable": ("Make Editable", lambda obj, _detail, _context: overrides.make_editable(obj)),
    "enable": ("Enable", lambda obj, _detail, _context: setattr(obj, "hide_viewport", False)),
    "unpin_shape_key": ("Unpin", lambda obj, _detail, _context: setattr(obj, "show_only_shape_key", False)),
    "select_strays": (
        "Select",
        lambda obj, _detail, context: select(obj, shape_checks.strays(meshes.rest_points(obj)), context),
    ),
    "select_unweighted": (
        "Select",
        lambda obj, _detail, context: select(obj, shape_checks.without_weight(bone_weights(obj)), context),
    ),
    "normalise_weights": ("Normalise", lambda obj, _detail, _context: normalise_weights(obj)),
    "move_armature_up": ("Move Armature Up", lambda obj, detail, _context: move_armature_up(obj, detail)),
    "clear_map": ("Clear", lambda obj, detail, _context: obj.jounce.property_unset(detail)),
    "use_pose_position": (
        "Pose Position",
        lambda obj, _detail, _context: setattr(obj.data, "pose_position", "POSE"),
    ),
    "make_rigid": (
        "Make Rigid",
        lambda obj, detail, _context: setattr(obj.pose.bones[detail], "jounce_role", Role.RIGID.value),
    ),
    "use_calm": (
        "Use Calm",
        lambda obj, _detail, _context: setattr(obj.jounce, "integrator", "backward_euler"),
    ),
    "use_box": ("Use Box", lambda obj, _detail, _context: setattr(obj, "jounce_shape", "BOX")),
    "keep_size": ("Keep Size", lambda obj, _detail, _context: setattr(obj, "jounce_keeps_size", True)),
    "add_to_body": ("Add to Body", None),
    "add_all_to_body": ("Add All to Body", None),
    "build": ("Build", None),
    "make_attached": ("Make Attached", None),
}

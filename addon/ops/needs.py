"""Requirements of operators; each refuses with the sentence shown on the greyed button.

Called at every redraw for every button: nothing here reads a mesh, searches the file or writes.
"""

import bpy

from ..bridge.bake import renders
from ..bridge.body import bodies, overrides
from ..bridge.common import registry
from ..bridge.inputs import collider_objects
from ..bridge.loads.colliders import hindrances, soft
from ..bridge.loads.deforming_colliders import follows_bones
from ..bridge.preview import previews, sculpting
from ..bridge.rig import meshes
from ..core.body import built_bodies
from ..core.common.user_error import UserError
from ..core.flesh.settings import Law


def active_object(context: bpy.types.Context) -> bpy.types.Object:
    """The active object."""
    active = context.view_layer.objects.active
    if active is None:
        raise UserError("No object is active; select the character.")
    return active


def active_mesh(context: bpy.types.Context) -> bpy.types.Object:
    """The active object, a mesh of this file."""
    active = context.view_layer.objects.active
    if active is None or active.type != "MESH":
        raise UserError("The active object is not a mesh; make the character's mesh the active object.")
    meshes.refuse_foreign(active)
    return active


def character(context: bpy.types.Context) -> bpy.types.Object:
    """The active object, a mesh or an armature without Jounce."""
    active = context.view_layer.objects.active
    if active is not None and active.type in ("CURVE", "CURVES", "SURFACE", "FONT", "META"):
        raise UserError(
            f"{active.name} is a {active.type.lower()}; convert it to a mesh first (Object > Convert)."
        )
    if active is None or active.type not in ("MESH", "ARMATURE"):
        raise UserError("The active object is neither a mesh nor an armature; select the character.")
    if active.type == "MESH":
        meshes.refuse_foreign(active)
        if bodies.host_of(active) is not None:
            raise UserError(f"{active.name} has Jounce already.")
    return active


def body_or_character(context: bpy.types.Context) -> bpy.types.Object:
    """The host of the active object's body, or a character without one."""
    active = active_object(context)
    return character(context) if bodies.host_of(active) is None else active_body(context)


def active_body(context: bpy.types.Context) -> bpy.types.Object:
    """The host of the active object's body."""
    active = context.view_layer.objects.active
    host = bodies.host_of(active) if active is not None else None
    if host is None:
        raise UserError("The active object has no Jounce; select a mesh and use Add Jounce first.")
    meshes.refuse_foreign(host)
    return host


def active_part(context: bpy.types.Context) -> bpy.types.Object:
    """The host of the active mesh's body."""
    active = context.view_layer.objects.active
    host = bodies.host_of(active) if active is not None and active.type == "MESH" else None
    if host is None:
        raise UserError("The active object is no mesh with Jounce; select a mesh and use Add Jounce first.")
    meshes.refuse_foreign(host)
    return host


def within_body(context: bpy.types.Context) -> bpy.types.Object:
    """The host of the active mesh's body, without meshes of other bodies in the selection."""
    host = active_part(context)
    beside = next((obj for obj in selected_meshes(context) if bodies.host_of(obj) not in (None, host)), None)
    if beside is not None:
        raise UserError(
            f"{beside.name} does not belong to the body of {host.name}; make one body of both with Sew "
            f"Bodies, or deselect {beside.name}."
        )
    return host


def sewable(context: bpy.types.Context) -> tuple[bpy.types.Object, list[bpy.types.Object]]:
    """The host of the active mesh's body, and those of the other selected bodies, all of them flesh."""
    host = active_part(context)
    found = dict.fromkeys(bodies.host_of(obj) for obj in selected_meshes(context))
    others = [other for other in found if other not in (None, host)]
    if not others:
        raise UserError("No mesh of another body is selected; select one beside the active mesh.")
    for each in (host, *others):
        meshes.refuse_foreign(each)
        if not each.jounce.is_flesh:
            raise UserError(
                f"{each.name} is {each.jounce.kind.lower()}, and only flesh that follows a rig can be sewn; "
                "make it Rigged in the panel Body."
            )
    return host, others


def paintable(context: bpy.types.Context) -> bpy.types.Object:
    """The active mesh, or the host moved by the active armature, editable for painting."""
    host, active = active_body(context), context.view_layer.objects.active
    mesh = active if active.type == "MESH" else host
    meshes.refuse_unpaintable(mesh)
    return mesh


def more_muscles(context: bpy.types.Context) -> None:
    """A body with muscles beside the first."""
    host = active_body(context)
    if not host.jounce.more_muscles:
        raise UserError(f"{host.name} has no muscle beside the first; use Add Muscle for another one.")


def own_part(context: bpy.types.Context) -> bpy.types.PropertyGroup:
    """The chosen part of the active body, made by the artist."""
    host = active_body(context)
    part = host.jounce.part
    if part is None or not part.own:
        raise UserError("The chosen part is one that Jounce found; choose one of your own in the list.")
    return part


def drawn_law(context: bpy.types.Context) -> bpy.types.Object:
    """The host of the active object's body, with a drawn law."""
    host = active_body(context)
    if Law(host.jounce.law) is not Law.CURVE:
        raise UserError(f"The law of {host.name} is not drawn; choose Curve as its Law in the panel Motion.")
    return host


def own_bodies(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The hosts of the selected local bodies."""
    hosts = bodies.hosts(context)
    for host in hosts:
        meshes.refuse_foreign(host)
    return hosts


def flesh(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The hosts of the selected bodies, all of which are flesh on a rig."""
    hosts = own_bodies(context)
    other = next((host for host in hosts if not host.jounce.is_flesh), None)
    if other is not None:
        kind = other.jounce.kind.lower()
        raise UserError(f"{other.name} is {kind}, and this is for flesh that follows a rig.")
    return hosts


def bodies_to_bake(context: bpy.types.Context) -> None:
    """Selected local bodies, or built bodies without a bake."""
    try:
        own_bodies(context)
    except UserError:
        if all(host.library is not None for host in renders.unbaked(context.scene)):
            raise


def paintable_in_sight(context: bpy.types.Context) -> None:
    """A visible mesh for painting."""
    meshes.refuse_hidden(paintable(context))


def built_flesh(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The hosts of the selected bodies, all of which are flesh on a rig and built."""
    hosts = flesh(context)
    unbuilt = next((host for host in hosts if not host.jounce.built_digest), None)
    if unbuilt is not None:
        raise UserError(f"{unbuilt.name} is not built yet; use Build first.")
    return hosts


def only_body(context: bpy.types.Context) -> bpy.types.Object:
    """The host of the one selected body."""
    hosts = own_bodies(context)
    if len(hosts) > 1:
        raise UserError("Several bodies are selected; select only one of them.")
    return hosts[0]


def selected_meshes(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The active object and the selected ones that are meshes, each once."""
    objects = [context.view_layer.objects.active, *context.selected_objects]
    return list(dict.fromkeys(obj for obj in objects if obj is not None and obj.type == "MESH"))


def without_body(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected meshes without a body."""
    found = [obj for obj in selected_meshes(context) if bodies.host_of(obj) is None]
    if not found:
        raise UserError("Every selected mesh has Jounce already; select the meshes to add as well.")
    return found


def colliders(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected meshes and empties without a body, meshes of other characters with flesh, and loose bodies
    for contact with a loose one.
    """
    host = active_body(context)
    own = bodies.members(host)
    fleshed = [obj for obj in selected_meshes(context) if obj not in own and registry.is_of_body(obj)]
    touched = [obj for obj in fleshed if follows_bones(obj) or soft(host, obj) == obj]
    found = [*collider_objects.selected(context), *touched]
    if not found:
        raise UserError(
            "Neither another mesh nor an empty is selected; select what the body is to collide with."
        )
    return found


def parts(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected meshes of a body, without its host."""
    found = [obj for obj in selected_meshes(context) if bodies.host_of(obj) not in (None, obj)]
    if not found:
        raise UserError(
            "Only the main mesh of the body is selected, which stays; select others, or use Remove Jounce."
        )
    return found


def other_bodies(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The other selected hosts beside the active body."""
    source = active_body(context)
    found = [host for host in bodies.hosts(context) if host != source]
    if not found:
        raise UserError("No other body is selected; select the bodies to copy to.")
    return found


def out_of_edit_mode(context: bpy.types.Context) -> None:
    """Any mode but Edit Mode, whose edits have reached neither mesh nor armature."""
    if context.mode.startswith("EDIT"):
        name = context.view_layer.objects.active.name
        raise UserError(f"{name} is in Edit Mode; leave it first, to bring the edits up to date.")


def linked(context: bpy.types.Context) -> bpy.types.Object:
    """The active object, linked or an instance of linked data."""
    active = active_object(context)
    if overrides.linked_of(active, context.scene) is None:
        raise UserError(f"{active.name} is not linked from another file.")
    return active


def previewed(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected bodies with a preview."""
    hosts = bodies.dressed(own_bodies(context))
    found = [host for host in hosts if previews.session(host) is not None]
    if not found:
        raise UserError("No selected body is previewed; switch its preview on first.")
    return found


def directed(context: bpy.types.Context) -> bpy.types.Object:
    """The active body, previewed and with flesh."""
    host = active_body(context)
    if not host.jounce.is_flesh:
        raise UserError(
            f"{host.name} is {host.jounce.kind.lower()}, and only flesh on a rig can be directed."
        )
    if previews.session(host) is None:
        raise UserError(f"{host.name} is not previewed; switch its preview on first.")
    return host


def flesh_key(context: bpy.types.Context) -> bpy.types.Object:
    """The active body with a chosen key."""
    host = active_body(context)
    if host.jounce.flesh_key is None:
        raise UserError(f"{host.name} has no key of its flesh; key it first.")
    return host


def undirected_part(context: bpy.types.Context) -> bpy.types.Object:
    """The active body with a chosen part without curves of its own."""
    host = active_body(context)
    part = host.jounce.part if host.jounce.has_list else None
    if part is None:
        raise UserError(f"No part of {host.name} is chosen; choose one in the list Parts.")
    if part.name in host.jounce.directions:
        raise UserError(f"The part {part.name} has curves of its own already.")
    return host


def directed_part(context: bpy.types.Context) -> bpy.types.Object:
    """The active body with a chosen part that has curves of its own."""
    host = active_body(context)
    part = host.jounce.part if host.jounce.has_list else None
    if part is None or part.name not in host.jounce.directions:
        raise UserError(f"The chosen part of {host.name} has no curves of its own.")
    return host


def sculpt_copy(context: bpy.types.Context) -> bpy.types.Object:
    """The active object, a copy for sculpting."""
    active = context.view_layer.objects.active
    if not sculpting.is_copy(active):
        raise UserError("The active object is no copy for sculpting; use Sculpt Flesh first.")
    return active


def in_memory(context: bpy.types.Context) -> None:
    """A body built in this session."""
    host = own_bodies(context)[0]
    if host.jounce.built_digest not in built_bodies.CACHE:
        raise UserError(f"The body of {host.name} is not in memory; build it first.")


def copied(context: bpy.types.Context) -> None:
    """A body baked to a copy."""
    if not any(host.jounce.bake_copy is not None for host in own_bodies(context)):
        raise UserError("No selected body has a copy; bake it to Helper Bones (Copy) first.")


def baked(context: bpy.types.Context) -> None:
    """A baked body."""
    if not any(host.jounce.bake_parts for host in own_bodies(context)):
        raise UserError("No selected body has a bake; bake it first.")


def ringing(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The hosts of the selected bodies, all of which have a volume for sound."""
    hosts = own_bodies(context)
    silent = next((host for host in hosts if host.jounce.is_attached or host.jounce.is_pinned), None)
    if silent is not None:
        raise UserError(
            f"{silent.name} is {silent.jounce.kind.lower()} and makes no sound; flesh and loose bodies do."
        )
    return hosts


def heard(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected bodies with a baked sound."""
    found = [host for host in own_bodies(context) if host.jounce.bake_sound is not None]
    if not found:
        raise UserError("No selected body has a sound; bake its sound first.")
    return found


def findings(context: bpy.types.Context) -> None:
    """Findings of the diagnosis."""
    host = own_bodies(context)[0]
    if len(host.jounce.findings) == 0:
        raise UserError(f"There are no findings about {host.name}; diagnose it first.")


def fitted(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected bodies with a fitted frequency."""
    found = [host for host in own_bodies(context) if host.jounce.fitted_names]
    if not found:
        raise UserError("No selected body was fitted to a shot; use Fit to Shot first.")
    return found


def learnt(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected bodies with a learnt basis."""
    found = [host for host in own_bodies(context) if host.jounce.learnt_digest]
    if not found:
        raise UserError("No selected body has learnt a shot yet; use Learn This Shot first.")
    return found


def hindered(context: bpy.types.Context) -> dict[str, str]:
    """Obstacles to the collisions of the active body: the sentence of each fix."""
    host = active_body(context)
    found = {fix: sentence for sentence, fix in hindrances(host) if fix}
    if not found:
        raise UserError(f"No setting keeps {host.name} from colliding.")
    return found


def seam(context: bpy.types.Context) -> bpy.types.Object:
    """The host of the active body, with an active stitch group."""
    active = context.view_layer.objects.active
    host = bodies.host_of(active) if active is not None else None
    if host is None or not 0 <= host.jounce.seam_index < len(host.jounce.seams):
        raise UserError("No stitch group is chosen, so none can be removed.")
    return host


def clip_folder(context: bpy.types.Context) -> str:
    """A chosen folder of actions."""
    state = registry.state(context.scene)
    if state is None or not state.clip_folder:
        raise UserError("No folder of actions is chosen; choose one first.")
    return state.clip_folder


def clip_list(context: bpy.types.Context) -> None:
    """Listed actions."""
    state = registry.state(context.scene)
    if state is None or len(state.clips) == 0:
        raise UserError("There is no list of actions yet; choose a folder and list its actions.")

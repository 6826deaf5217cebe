"""Settings of a body in a file: taken from a body, and given to one.

Bones, materials and meshes are found by name, parts by their anatomical name. Painted maps and hard faces of
an equal mesh are the same to the bit; another mesh gets maps by the names of its bones.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.common.user_error import UserError
from ...core.mesh import shares
from ...core.rig.part_settings import LABELS
from ...core.storage import settings_file
from ...core.storage.settings_file import ALL, Plain, SettingsFile, Values, shortest
from ..common import registry
from ..rig import armature_modifier, meshes
from . import bodies, copies, hard_parts, law_curves, muscles, stitches, weight_maps

Warn = Callable[[str], None]
Objects = tuple[bpy.types.Object, ...]
# New vertex groups, by mesh and name.
Made = list[tuple[bpy.types.Object, str]]

SCALARS = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}
# Settings of this file alone: choices in lists, and folders.
CHOSEN = {"part_index", "mode_index", "flesh_key_index", "seam_index", "cache_folder"}
# The hidden setting that a build depends on: by the points of a body, so only for the same meshes.
FOLDS = "folds"
BY_GROUP = {setting for setting, _ in weight_maps.SETTINGS.values()}
PART = ("amount", "softness", "damping", "mute", "solo", "own", "fitted_amount", "fitted_softness")
DIRECTION = ("exaggerate", "lag", "follow_through")
BONE = ("jounce_role", "jounce_leak")


def take(host: bpy.types.Object) -> SettingsFile:
    """The settings of a body."""
    state, objects = host.jounce, bodies.members(host)
    names = map_names(host)
    return SettingsFile(
        meshes={obj.name: shape(obj) for obj in objects},
        body=values(state, settings(state)),
        law=law_curves.points(law_curves.held(host)),
        parts={part.name: kept for part in state.parts if (kept := values(part, PART))},
        directions={each.name: values(each, DIRECTION) for each in state.directions},
        muscles=[values(muscle, muscles.SETTINGS) for muscle in state.more_muscles],
        bones={bone.name: kept for bone in bones(objects) if (kept := values(bone, BONE))},
        materials=[material.name for material in materials(objects) if material.jounce_rigid],
        rigid={obj.name: hard for obj in objects if (hard := rigid(obj))},
        stitches=[sewn(seam) for seam in state.seams if seam.mesh_a and seam.mesh_b],
        maps={name: painted(objects, name) for name in names},
    )


@dataclass(frozen=True)
class Change:
    """Settings of a file, fitted to a body and not yet given to it.

    equal: meshes with the shape of the file's. hard: of each mesh, true for a whole hard one, and the single
    hard faces (f,). maps: weights (p,) by vertex group and mesh. names: of the vertex groups in the file's.
    marked: materials that become hard; others stay, since other bodies may have them too.
    """

    host: bpy.types.Object
    file: SettingsFile
    equal: dict[str, bpy.types.Object]
    hard: dict[bpy.types.Object, tuple[bool, np.ndarray]]
    maps: dict[str, dict[bpy.types.Object, np.ndarray]]
    names: dict[str, str]
    marked: list[bpy.types.Material]

    def make(self, warn: Warn) -> Made:
        """Gives the settings in the place of the body's own; returns the new vertex groups."""
        host, file, state = self.host, self.file, self.host.jounce
        objects = bodies.members(host)
        made = [new for name, found in self.maps.items() for new in put_map(name, found)]
        for name in settings(state):
            state.property_unset(name)
        put(state, renamed(file.body, self.names))
        law_curves.draw(host, file.law)
        put_parts(state, file, self.names)
        state.directions.clear()
        for name, kept in file.directions.items():
            direction = state.directions.add()
            direction.name = self.names.get(name, name)
            put(direction, kept)
        state.more_muscles.clear()
        for kept in file.muscles:
            put(state.more_muscles.add(), renamed(kept, self.names))
        put_bones(objects, file, warn)
        for material in self.marked:
            material.jounce_rigid = True
        for obj, (whole, faces) in self.hard.items():
            obj.jounce.is_rigid = whole
            hard_parts.replace(obj, faces)
        stitches.cut(host, 0)
        for kept in file.stitches:
            sew(host, self.equal, kept, warn)
        host.update_tag()
        return made

    def unmake(self, made: Made) -> None:
        """Takes new vertex groups and marks of materials off again."""
        for obj, name in made:
            obj.vertex_groups.remove(obj.vertex_groups[name])
        for material in self.marked:
            material.jounce_rigid = False


def fitted(host: bpy.types.Object, file: SettingsFile) -> Change:
    """The settings of a file for a body; refuses impossible ones."""
    state, objects = host.jounce, bodies.members(host)
    refuse_unfit(state, file)
    shapes = {obj.name: shape(obj) for obj in objects}
    if list(shapes.items()) != list(file.meshes.items()):
        file = replace(file, body={name: value for name, value in file.body.items() if name != FOLDS})
    equal = {obj.name: obj for obj in objects if file.meshes.get(obj.name) == shapes[obj.name]}
    hard = {obj: hard_faces(obj, file.rigid.get(obj.name, ""), equal) for obj in objects}
    names = free_names(host, objects, file)
    maps = {}
    for name, kept in file.maps.items():
        found = {obj: placed(obj, name, kept, equal) for obj in objects}
        maps[names[name]] = {obj: weights for obj, weights in found.items() if weights is not None}
    marked = [
        material
        for material in materials(objects)
        if material.name in file.materials and not material.jounce_rigid and material.library is None
    ]
    return Change(host, file, equal, hard, maps, names, marked)


def meshes_of(file: SettingsFile, scene: bpy.types.Scene) -> tuple[list[bpy.types.Object], list[str]]:
    """The meshes of a scene named in a file, the host first, and the missing names."""
    objects = {name: scene.objects.get(name) for name in file.meshes}
    found = {name: obj for name, obj in objects.items() if obj is not None and obj.type == "MESH"}
    return list(found.values()), [name for name in objects if name not in found]


def settings(state: bpy.types.PropertyGroup) -> list[str]:
    """Names of a body's settings with one plain value."""
    known = state.bl_rna.properties
    return [
        name
        for name in registry.stored(state)
        if known[name].type in SCALARS
        and (not known[name].is_hidden or name == FOLDS)
        and name not in copies.OWN | CHOSEN
        and not name.startswith(copies.OWN_PREFIXES)
    ]


def values(group: bpy.types.bpy_struct, names: Iterable[str]) -> Values:
    """The values of settings, but for defaults."""
    return {name: plain(getattr(group, name)) for name in names if not is_default(group, name)}


def plain(value: object) -> Plain | list[Plain]:
    """A value as in the file."""
    if isinstance(value, float):
        return shortest(value)
    return value if isinstance(value, (bool, int, str)) else [plain(each) for each in value]


def put(group: bpy.types.bpy_struct, given: Values) -> None:
    """Gives settings their values."""
    for name, value in given.items():
        if name in group.bl_rna.properties:
            setattr(group, name, value)


def is_default(group: bpy.types.bpy_struct, name: str) -> bool:
    """True if a setting has its default value."""
    setting, value = group.bl_rna.properties[name], getattr(group, name)
    is_array = getattr(setting, "is_array", False)
    return tuple(value) == tuple(setting.default_array) if is_array else value == setting.default


def refuse_unfit(state: bpy.types.PropertyGroup, file: SettingsFile) -> None:
    """Refuses values that a setting cannot have."""
    body = state.bl_rna.properties
    rows = {
        name: body[name].fixed_type.properties for name in ("parts", "directions", "more_muscles", "seams")
    }
    groups = [
        (body, [file.body]),
        (rows["parts"], file.parts.values()),
        (rows["directions"], file.directions.values()),
        (rows["more_muscles"], file.muscles),
        (rows["seams"], [kept["settings"] for kept in file.stitches]),
        (bpy.types.PoseBone.bl_rna.properties, file.bones.values()),
    ]
    given = (
        (known.get(name), value) for known, each in groups for kept in each for name, value in kept.items()
    )
    for setting, value in given:
        if setting is not None and not takes(setting, value):
            raise UserError(f"{setting.name} cannot be {value!r}; save the file of settings again.")
    folds = file.body.get(FOLDS, "")
    if not shares.is_packed(folds):
        raise UserError(f"{body[FOLDS].name} cannot be {folds!r}; save the file of settings again.")


def takes(setting: bpy.types.Property, value: Plain | list[Plain]) -> bool:
    """True if a setting can have a value."""
    if setting.type == "ENUM":
        names = [item.identifier for item in setting.enum_items]
        return value in names or not names
    if getattr(setting, "array_length", 0):
        return isinstance(value, list) and len(value) == setting.array_length
    kinds = {"BOOLEAN": (bool,), "INT": (int,), "FLOAT": (int, float), "STRING": (str,)}
    return isinstance(value, kinds.get(setting.type, ())) and (
        setting.type == "BOOLEAN" or not isinstance(value, bool)
    )


def map_names(host: bpy.types.Object) -> list[str]:
    """Names of the vertex groups of a body's maps and own parts, those on some mesh."""
    state, objects = host.jounce, bodies.members(host)
    named = [getattr(state, setting) for setting in BY_GROUP]
    named += [muscle.muscle_group for muscle in state.more_muscles]
    named += [part.name for part in state.parts if part.own]
    return sorted({name for name in named if any(name in obj.vertex_groups for obj in objects)})


def painted(objects: Objects, name: str) -> dict:
    """One map for the file: exact weights of each mesh with the group, and the mean of each bone's flesh."""
    exact, sums, totals = {}, Counter(), Counter()
    for obj in (obj for obj in objects if name in obj.vertex_groups):
        groups, group = meshes.group_weights(obj), obj.vertex_groups[name]
        weights = groups[:, group.index]
        exact[obj.name] = settings_file.weights_of(weight_maps.exact(obj, group))
        for bone, column in bone_columns(obj).items():
            sums[bone] += float(groups[:, column] @ weights)
            totals[bone] += float(groups[:, column].sum())
    return {
        "bones": {bone: round(found / totals[bone], 4) for bone, found in sums.items() if found},
        "meshes": exact,
    }


def placed(
    obj: bpy.types.Object, name: str, kept: dict, equal: dict[str, bpy.types.Object]
) -> np.ndarray | None:
    """The weights (p,) of a map on a mesh: exact on an equal one, else by its bones; None for none."""
    count = len(obj.data.vertices)
    if obj.name in equal:
        exact = kept["meshes"].get(obj.name)
        return None if exact is None else settings_file.weights(exact, count, name)
    columns = bone_columns(obj)
    known = [bone for bone in columns if bone in kept["bones"]]
    if not known:
        return None
    groups = meshes.group_weights(obj)
    total = groups[:, list(columns.values())].sum(axis=1)
    found = groups[:, [columns[bone] for bone in known]] @ [kept["bones"][bone] for bone in known]
    return np.clip(np.divide(found, total, out=np.zeros(count), where=total > 0.0), 0.0, 1.0)


def bone_columns(obj: bpy.types.Object) -> dict[str, int]:
    """The vertex group of each bone that deforms a mesh."""
    deformer = armature_modifier.deformer(obj, lambda _sentence: None)
    names = set() if deformer is None else {b.name for b in deformer.armature.data.bones if b.use_deform}
    return {group.name: group.index for group in obj.vertex_groups if group.name in names}


def shape(obj: bpy.types.Object) -> str:
    """Hash of a mesh's vertices at rest."""
    return hashlib.sha256(meshes.rest_points(obj).astype(np.float32).tobytes()).hexdigest()[:16]


def free_names(host: bpy.types.Object, objects: Objects, file: SettingsFile) -> dict[str, str]:
    """The name that each map of a file gets; a vertex group or a bone of the artist's keeps its name."""
    own, taken = set(map_names(host)), []
    names = {}
    for name in file.maps:
        is_used = any(name in weight_maps.names_on(obj) for obj in objects) and name not in own
        names[name] = weight_maps.free_name(objects, name, [*taken, *file.maps]) if is_used else name
        taken.append(names[name])
    return names


def renamed(given: Values, names: dict[str, str]) -> Values:
    """Settings with the names of the vertex groups replaced."""
    return {name: names.get(value, value) if name in BY_GROUP else value for name, value in given.items()}


def put_map(name: str, found: dict[bpy.types.Object, np.ndarray]) -> Made:
    """Paints a map on its meshes; returns the new vertex groups."""
    made = [(obj, name) for obj in found if name not in obj.vertex_groups]
    for obj, weights in found.items():
        group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
        weight_maps.put(obj, group, weights)
    return made


def put_parts(state: bpy.types.PropertyGroup, file: SettingsFile, names: dict[str, str]) -> None:
    """Gives parts their settings; parts that were not built yet are listed by the next build."""
    for part in state.parts:
        for name in PART:
            part.property_unset(name)
    for name in [
        part.name for part in state.parts if part.name not in LABELS and part.name not in file.parts
    ]:
        state.parts.remove(state.parts.find(name))
    for name, kept in file.parts.items():
        name = names.get(name, name)
        part = state.parts.get(name) or state.parts.add()
        part.name = name
        put(part, {each: value for each, value in kept.items() if each in PART})


def bones(objects: Objects) -> list[bpy.types.PoseBone]:
    """The bones of the armatures that move the meshes."""
    return [bone for rig in armature_modifier.moving(objects) for bone in rig.pose.bones]


def put_bones(objects: Objects, file: SettingsFile, warn: Warn) -> None:
    """Gives bones their settings; bones of linked rigs stay."""
    found = bones(objects)
    for bone in (bone for bone in found if bone.id_data.library is None):
        kept = file.bones.get(bone.name, {})
        for name in BONE:
            if name in kept:
                setattr(bone, name, kept[name])
            elif not is_default(bone, name):
                bone.property_unset(name)
    lacking = sorted(file.bones.keys() - {bone.name for bone in found if bone.id_data.library is None})
    if lacking:
        warn(f"No rig of this file has {', '.join(lacking)}, so the settings of these bones were left out.")


def materials(objects: Objects) -> list[bpy.types.Material]:
    """The materials of the meshes, each once."""
    slots = (slot.material for obj in objects for slot in obj.material_slots)
    return list(dict.fromkeys(material for material in slots if material is not None))


def rigid(obj: bpy.types.Object) -> str:
    """The hard faces of a mesh as in the file."""
    return ALL if obj.jounce.is_rigid else settings_file.ranges(np.flatnonzero(hard_parts.marked(obj.data)))


def hard_faces(
    obj: bpy.types.Object, kept: str, equal: dict[str, bpy.types.Object]
) -> tuple[bool, np.ndarray]:
    """From the file: true for a whole hard mesh, and the single hard faces (f,), of an equal mesh only."""
    faces = np.zeros(len(obj.data.polygons), bool)
    if kept != ALL and obj.name in equal:
        faces[settings_file.numbers(kept, len(faces), f"The mesh {obj.name}")] = True
    return kept == ALL, faces


def sewn(seam: bpy.types.PropertyGroup) -> dict:
    """A stitch group as in the file."""
    return {
        "name": seam.name,
        "meshes": [seam.mesh_a.name, seam.mesh_b.name],
        "pairs": stitches.vertices(seam).tolist(),
        "settings": values(seam, stitches.SETTINGS),
    }


def sew(host: bpy.types.Object, equal: dict[str, bpy.types.Object], kept: dict, warn: Warn) -> None:
    """Gives a body a stitch group of the file, if the meshes exist."""
    ends = [equal.get(name) for name in kept["meshes"]]
    pairs = np.array(kept["pairs"], np.int64).reshape(-1, 2)
    counts = [0 if obj is None else len(obj.data.vertices) for obj in ends]
    if (pairs < 0).any() or (pairs >= counts).any():
        warn(f"The stitch group {kept['name']} was left out: {host.name} lacks a mesh or a vertex of it.")
        return
    seam = stitches.add(host, kept["name"], (ends[0], ends[1]), pairs)
    put(seam, kept["settings"])

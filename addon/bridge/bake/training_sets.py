"""Training sets of deformers that learn: held poses as FBX, and their final shapes as Alembic."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import bpy
import numpy as np

from ...core.common.task import Step, Task, scaled
from ...core.common.user_error import UserError
from ...core.flesh.settings import RestartMode, Target
from ...core.storage import pc2
from ..body.bodies import BodyScene
from ..common import units
from ..inputs import clips, file_actions, posing
from ..keys import key_removal
from ..motions.motions import Motions
from ..preview import previews
from ..rig import armature_modifier, modifier_stack
from ..rig.armature_modifier import Warn
from ..rig.doubles import evaluated_points
from . import exports, helper_bones, rehearsals

# Units of Unreal in a metre.
UNREAL = 100.0
# Largest distance of a vertex after reading the files again, as a share of the size.
TOLD = 1e-4


def export_fbx(path: Path, _asked: exports.Asked) -> None:
    """Armature and meshes with the vertices of the meshes themselves, every frame."""
    bpy.ops.export_scene.fbx(
        filepath=str(path),
        use_selection=True,
        object_types={"ARMATURE", "MESH"},
        use_mesh_modifiers=False,
        add_leaf_bones=False,
        bake_anim_use_all_actions=False,
        bake_anim_use_nla_strips=False,
        bake_anim_simplify_factor=0.0,
    )


FBX = exports.Format("FBX", ".fbx", frozenset(), export_fbx)
ALEMBIC = exports.FORMATS["ALEMBIC"]


@dataclass(frozen=True)
class Shapes:
    """The meshes of a body in held poses. places: (f, p, 3) f32, world, metres, the first at rest."""

    scene: BodyScene
    armature: bpy.types.Object
    places: np.ndarray

    @property
    def span(self) -> tuple[int, int]:
        """First and last frame."""
        return 0, len(self.places) - 1


def written(
    host: bpy.types.Object, path: Path, count: int, seed: int, context: bpy.types.Context, warn: Warn
) -> Task:
    """Writes the poses to an FBX file and their shapes to an Alembic file beside it, and reads both again."""
    made = yield from scaled(rehearsals.opened(host, context, warn), 0.0, 0.1)
    armature = fitting(made.scene)
    values = posing.poses(armature, count, seed)
    with previews.paused(), posing.played(armature, values, context.scene):
        shapes = yield from scaled(held(made, armature, count, context), 0.1, 0.9)
        yield Step(0.9, "Exporting")
        beside = path.with_suffix(ALEMBIC.suffix)
        objects = [*made.scene.objects, armature]
        plan = exports.Plan([host], objects, FBX, exports.Asked(True, "VIEWPORT"), (), shapes.span)
        exports.write(plan, path, context, lambda part: write_shapes(shapes, part, beside, context))
    return f"Exported {count} poses of {host.name} to {path}, and their shapes to {beside.name}."


def fitting(scene: BodyScene) -> bpy.types.Object:
    """The armature of a body; refuses what the files cannot hold."""
    clips.refuse_to_import(bpy.context)
    if not getattr(bpy.app.build_options, ALEMBIC.build_option):
        raise UserError(f"This Blender was built without {ALEMBIC.name}; use one from blender.org.")
    name = scene.host.name
    armatures = armature_modifier.moving(scene.objects)
    if len(armatures) != 1:
        raise UserError(f"{name} is moved by {len(armatures)} armatures; a training set takes one.")
    baked = next((obj for obj in scene.objects if modifier_stack.is_baked(obj)), None)
    if baked is not None:
        raise UserError(f"{baked.name} shows its bake, which would shape the poses; free it first.")
    foreign = next((obj for obj in (*scene.objects, armatures[0]) if not obj.is_editable), None)
    if foreign is not None:
        raise UserError(f"{foreign.name} is linked, and cannot be posed here; make a library override of it.")
    file_actions.refuse_tweaked(armatures[0])
    exports.refuse_unseen([*scene.objects, armatures[0]])
    return armatures[0]


def held(
    made: Motions, armature: bpy.types.Object, count: int, context: bpy.types.Context
) -> Generator[Step, None, Shapes]:
    """The shapes of a body, settled in each of the played poses."""
    scene, steps = made.scene, range(count + 1)
    drives = yield from scaled(rehearsals.driven(made, steps, context), 0.0, 0.2)
    full = yield from scaled(rehearsals.fine(made), 0.2, 0.25)
    settings = replace(
        scene.host.jounce.motion_settings(),
        start=RestartMode.SETTLED,
        after_cut=RestartMode.SETTLED,
        teleport=None,
    )
    drives = [replace(drive, cut=True) for drive in drives]
    simulating = rehearsals.simulated(made, full, drives, settings, context.scene)
    motion, _ = yield from scaled(simulating, 0.25, 0.8)
    asked = scene.host.jounce.bake_settings(Target.HELPER_BONES.value, 0, count)
    shaper = made.body if full is None else full
    wanted = yield from scaled(helper_bones.read(scene, shaper, motion, asked, context), 0.8, 1.0)
    wanted.frames[0] = wanted.points
    return Shapes(scene, armature, wanted.frames)


def write_shapes(shapes: Shapes, fbx: Path, path: Path, context: bpy.types.Context) -> None:
    """Writes the shapes to an Alembic file, and compares it with a written FBX file."""
    with TemporaryDirectory() as folder, copies(shapes, Path(folder), context) as made:
        hosts = [shapes.scene.host]
        plan = exports.Plan(hosts, made, ALEMBIC, exports.Asked(False, "VIEWPORT"), (), shapes.span)
        exports.write(plan, path, context, lambda part: compare(shapes, fbx, part, context))


@contextmanager
def copies(shapes: Shapes, folder: Path, context: bpy.types.Context) -> Iterator[list[bpy.types.Object]]:
    """Meshes that play the shapes in units of Unreal, under the names of the originals; then deleted."""
    made: list[bpy.types.Object] = []
    names = [(block, block.name) for obj in shapes.scene.objects for block in (obj, obj.data)]
    try:
        for number, (obj, part) in enumerate(
            zip(shapes.scene.objects, shapes.scene.surface.parts, strict=True)
        ):
            places = UNREAL * shapes.places[:, part.points]
            own = bpy.data.objects.new(obj.name, obj.data.copy())
            made.append(own)
            context.scene.collection.objects.link(own)
            with key_removal.leaving_no_block(own):
                own.shape_key_clear()
            own.data.attributes["position"].data.foreach_set("vector", places[0].ravel())
            cache = folder / f"{number}{pc2.SUFFIX}"
            writer = pc2.Writer(cache, len(places[0]), 0, len(places))
            for each in places:
                writer.add(each)
            writer.finish()
            modifier = own.modifiers.new("Shapes", "MESH_CACHE")
            modifier.cache_format, modifier.filepath, modifier.frame_start = "PC2", str(cache), 0.0
        for block, name in names:
            block.name = f"{name} aside"
        for own, obj in zip(made, shapes.scene.objects, strict=True):
            own.name = own.data.name = dict(names)[obj]
        yield made
    finally:
        for own in made:
            mesh = own.data
            bpy.data.objects.remove(own)
            bpy.data.meshes.remove(mesh)
        for block, name in names:
            block.name = name


def compare(shapes: Shapes, fbx: Path, alembic: Path, context: bpy.types.Context) -> None:
    """Refuses files with other vertices, or with another rest shape or last shape."""
    size, scale = shapes.scene.surface.diagonal, units.metres_per_unit(context.scene)
    skinned = read_again(fbx, context, 0)
    first, last = (read_again(alembic, context, frame) for frame in shapes.span)
    for part in shapes.scene.surface.parts:
        rest = shapes.places[0, part.points]
        pairs = (
            (fbx, skinned, rest, scale),
            (alembic, first, rest, 1.0 / UNREAL),
            (alembic, last, shapes.places[-1, part.points], 1.0 / UNREAL),
        )
        for path, found, expected, metres in pairs:
            points = found.get(part.name)
            if points is None or points.shape != expected.shape:
                raise UserError(f"{path.name} holds {part.name} with other vertices than Blender.")
            far = float(np.linalg.norm(metres * points - expected, axis=1).max()) / size
            if far > TOLD:
                raise UserError(f"{path.name} holds {part.name} elsewhere, by {far:.1%} of the size.")


def read_again(path: Path, context: bpy.types.Context, frame: int) -> dict[str, np.ndarray]:
    """World positions (p, 3) of the meshes in a file by name, of an FBX file at rest."""
    is_fbx = path.suffix == FBX.suffix
    with clips.imported(path, context) as objects:
        if is_fbx:
            for obj in objects:
                if obj.type == "ARMATURE":
                    obj.data.pose_position = "REST"
        context.scene.frame_set(frame)
        depsgraph = context.evaluated_depsgraph_get()
        found = {}
        for obj in (obj for obj in objects if obj.type == "MESH"):
            matrix = np.array(obj.evaluated_get(depsgraph).matrix_world)
            points = evaluated_points(obj, depsgraph) @ matrix[:3, :3].T + matrix[:3, 3]
            found[file_name(obj)] = points
    return found


def file_name(obj: bpy.types.Object) -> str:
    """The name of an object in its file: beside an object of the same name Blender adds a number."""
    stem, _, number = obj.name.rpartition(".")
    return stem if stem in bpy.data.objects and number.isdigit() else obj.name

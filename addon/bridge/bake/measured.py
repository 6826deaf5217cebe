"""The error of bakes, measured on Blender's evaluated meshes.

In some frames the evaluated meshes are compared with their posed shape plus the simulated displacement. The
posed shapes are read before the bakes are written, the others afterwards: the scene is evaluated twice in
seven frames, and twice in one more for each body.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...core.body.full_space import Shaper, shaped
from ...core.common.task import Step, in_turn, scaled
from ...core.common.user_error import UserError
from ...core.flesh.settings import BakeSettings, Target
from ...core.mesh.surface import Part
from ...core.stepping.motion import Motion
from ..body.bodies import BodyScene
from ..common import frames, units
from ..rig import bone_transforms, modifier_stack
from ..rig.doubles import evaluated_points

# Number of compared frames, evenly spread, beside the frame of the largest displacement.
SPREAD = 7
# Allowed error beyond the stated one, as a share of the motion, and as a share of the size.
SHARE, LEAST = 0.1, 1e-4

Asked = tuple[BodyScene, Shaper, Motion, BakeSettings]
Showing = Callable[[Iterable[bpy.types.Object]], AbstractContextManager[modifier_stack.Hide]]


@dataclass
class Expected:
    """Expected result of a bake.

    motion: largest displacement of the flesh, metres. shapes: by frame, for each mesh world positions (p, 3),
    metres; displacements until the rig is read.
    """

    scene: BodyScene
    target: Target
    motion: float = 0.0
    shapes: dict[int, list[np.ndarray]] = field(default_factory=dict)


@dataclass(frozen=True)
class Gap:
    """The largest error of a vertex, metres, with its mesh and frame."""

    error: float = 0.0
    mesh: str = ""
    frame: int = 0


def expected(asked: Sequence[Asked], context: bpy.types.Context) -> Generator[Step, None, list[Expected]]:
    """Expected results of baked motions: the scene's rigs plus the displacements."""
    wanted = yield from scaled(in_turn(displaced(*each) for each in asked), 0.0, 0.5)
    posed = [[*each.scene.objects] for each in wanted]
    count = sum(len(each.shapes) for each in wanted)
    looks = seen(wanted, posed, modifier_stack.shown_as_posed, context)
    for done, (index, frame, points) in enumerate(looks, start=1):
        shapes = wanted[index].shapes
        shapes[frame] = [place + moved for place, moved in zip(points, shapes[frame], strict=True)]
        yield Step(0.5 + 0.5 * done / count, "Reading the shapes")
    return wanted


def displaced(
    scene: BodyScene, body: Shaper, motion: Motion, settings: BakeSettings
) -> Generator[Step, None, Expected]:
    """The displacements of a motion in the compared frames."""
    over, wanted = settings.frames, Expected(scene, settings.target)
    sizes = np.empty(len(over))
    for row, coefficients in enumerate(motion.coefficients):
        sizes[row] = np.linalg.norm(shaped(body, coefficients), axis=1).max()
        yield Step(row / len(over), "Reading the shapes")
    spread = np.linspace(0, len(over) - 1, SPREAD).round().astype(int).tolist()
    for row in {*spread, int(sizes.argmax())} - motion.held:
        moved = shaped(body, motion.coefficients[row]).astype(np.float64)
        wanted.shapes[over[row]] = [moved[part.points] for part in scene.surface.parts]
        wanted.motion = max(wanted.motion, float(sizes[row]))
    return wanted


def seen(
    wanted: Sequence[Expected],
    objects: list[list[bpy.types.Object]],
    showing: Showing,
    context: bpy.types.Context,
) -> Iterator[tuple[int, int, list[np.ndarray]]]:
    """Index of a body, frame, and world positions (p, 3) of its objects there, metres.

    objects: for each body. showing: context for displaying them.
    """
    scene, scale = context.scene, units.metres_per_unit(context.scene)
    with showing(obj for each in objects for obj in each) as hide_later, frames.kept(scene):
        for frame in sorted({frame for each in wanted for frame in each.shapes}):
            scene.frame_set(frame)
            hide_later()
            depsgraph = context.evaluated_depsgraph_get()
            for index, each in enumerate(wanted):
                if frame in each.shapes:
                    yield index, frame, [placed(obj, depsgraph, scale) for obj in objects[index]]


def placed(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, scale: float) -> np.ndarray:
    """World positions (p, 3) of an evaluated object, metres."""
    matrix = bone_transforms.world_matrix(obj, depsgraph)
    return units.points_in_metres(evaluated_points(obj, depsgraph), matrix, scale)


def gaps(wanted: Sequence[Expected], context: bpy.types.Context) -> list[Gap]:
    """Errors of meshes with newly written bakes."""
    found = [Gap() for _ in wanted]
    shown = [[obj.jounce.bake_copy or obj for obj in each.scene.objects] for each in wanted]
    for index, frame, points in seen(wanted, shown, modifier_stack.shown_as_baked, context):
        each = wanted[index]
        parts, shapes = each.scene.surface.parts, each.shapes[frame]
        for obj, part, place, shape in zip(shown[index], parts, points, shapes, strict=True):
            # A single pinned key shows another shape, and the artist was warned.
            if not (each.target.is_keys and obj.show_only_shape_key):
                gap = Gap(distance(part, place, shape, each.target), obj.name, frame)
                found[index] = max(found[index], gap, key=lambda other: other.error)
    return found


def distance(part: Part, points: np.ndarray, others: np.ndarray, target: Target) -> float:
    """The largest distance between visible points (p, 3); infinite for different numbers of points.

    Points of followers count if the bake contains their shape.
    """
    if points.shape != others.shape or not np.isfinite(points).all():
        return float("inf")
    away = points - others
    away = part.alone(away) if target is Target.SKINNING_NODES or target.is_keys else away
    return float(np.linalg.norm(part.shown(away), axis=1).max(initial=0.0))


def refuse_unshown(wanted: Expected, found: Gap, said: float) -> None:
    """Refuses a bake without visible flesh. said: computed error, metres."""
    if found.error - said <= max(SHARE * wanted.motion, LEAST * wanted.scene.surface.diagonal):
        return
    others = "a Mesh Cache" if wanted.target is not Target.MESH_CACHE else "Skinning Nodes"
    others = "Skinning Nodes or a Mesh Cache" if wanted.target.is_keys else others
    how_far = "changes its vertices" if np.isinf(found.error) else f"is off by {found.error:.3g} m"
    raise UserError(
        f"With the bake {found.mesh} {how_far} in frame {found.frame}, as something beside its rig changes "
        f"the mesh, so the bake was taken back; bake to {others}, or remove what changes the mesh."
    )


def errors(wanted: Sequence[Expected], said: Sequence[float], context: bpy.types.Context) -> list[float]:
    """The measured errors of newly written bakes, metres; refuses bakes without visible flesh.

    said: the computed errors.
    """
    found = gaps(wanted, context)
    for each, gap, error in zip(wanted, found, said, strict=True):
        refuse_unshown(each, gap, error)
    return [max(gap.error, error) for gap, error in zip(found, said, strict=True)]

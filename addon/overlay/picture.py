"""The false colours of one body: values, scale, and a batch for each mesh."""

import bpy
import jounce
import numpy as np

from ..bridge.body import bodies, weight_maps
from ..bridge.common import units
from ..bridge.preview import evaluated_meshes, penetration, previews
from ..bridge.preview.evaluated_meshes import Shape
from ..bridge.rig import meshes
from ..core.body.full_space import DraftError
from ..core.body.muscles import Muscles
from ..core.common.user_error import UserError
from ..core.display import fields
from ..core.display.colours import Look, Scale
from ..core.display.fields import Field
from ..core.flesh.settings import Quality
from ..core.stepping.motion import built_frequency, stiffness_of
from . import shading


class Picture:
    """One field of a body. Batches are kept while the meshes do not move."""

    def __init__(
        self,
        host: bpy.types.Object,
        body: "jounce.Body",
        field: Field,
        mode: int,
        error: DraftError | None,
        muscles: Muscles | None,
    ) -> None:
        """error: distance of the draft from the final motion, if known. muscles: of the previewed body."""
        self.field = field
        self.scale: Scale | None = None
        self._values = np.empty(0)
        self._skins = skins(host, len(body.embedding.points))
        self._peak = fields.Peak()
        self._host = host
        if field is Field.DRAFT_ERROR:
            is_learnt = host.jounce.quality == Quality.LEARNT.value
            title = "Learnt error" if is_learnt else "Draft error"
            self._values, self.scale = fields.draft_error(error, body, title)
        elif field is Field.MUSCLE:
            self._values, self.scale = fields.muscle(muscles, body)
        elif not field.moves:
            settings = host.jounce.motion_settings()
            factor = stiffness_of(built_frequency(body, settings.frequency_of), settings)
            mode, parts = min(mode, body.model.mode_count - 1), {}
            if field is Field.PART:
                meshes_of_body = bodies.fleshed(host)
                parts = {
                    part.name: weight_maps.of_part(meshes_of_body, part.name) if part.own else None
                    for part in host.jounce.shown_parts()
                }
            self._values, self.scale = fields.at_rest(field, body, mode, factor, parts)

    def draw(self, context: bpy.types.Context, opacity: float) -> None:
        """Draws every visible mesh of the body."""
        depsgraph = context.evaluated_depsgraph_get()
        for skin in self._skins:
            if evaluated_meshes.is_shown(skin.obj, context.space_data):
                shape = evaluated_meshes.shape(skin.obj, depsgraph)
                skin.update(shape, self, context.scene, opacity)
                if skin.batch is not None:
                    shading.draw_surface(skin.batch, context.region_data, shape.matrix)

    def values(self, skin: "Skin", shape: Shape, scene: bpy.types.Scene) -> np.ndarray:
        """The values at the original vertices of a mesh, or at all vertices after the modifiers."""
        if not self.field.moves:
            return self._values[skin.rows]
        unit = units.metres_per_unit(scene)
        own = shape.in_metres(unit)[: len(skin.rest)]
        if self.field is Field.STRETCH:
            values = fields.stretch(skin.rest * unit, own, skin.triangles)
        elif self.field is Field.PENETRATION:
            try:
                values = 100.0 * penetration.depths(previews.session(self._host), own, skin.rows.start)
            except UserError as error:
                self.scale = Scale(str(error), "", Look.SEQUENTIAL)
                return np.zeros(len(own))
        else:
            values = skin.trail.speed(
                scene.frame_current_final, shape.in_metres(unit), units.frame_seconds(scene)
            )
        self.scale = self._peak.scale(self.field, values)
        return values


class Skin:
    """A mesh of a body, and its batch."""

    def __init__(self, obj: bpy.types.Object, rows: slice) -> None:
        """rows: of the body's render vertices."""
        self.obj = obj
        self.rows = rows
        self.trail = fields.Trail()
        matrix = np.array(obj.jounce.bind_matrix).reshape(4, 4)
        self.rest = units.points_in_metres(meshes.rest_points(obj), matrix, 1.0)
        self.triangles = meshes.triangles(obj, flipped=False)
        self.batch = None
        self._shape: Shape | None = None
        self._look: tuple[Scale | None, float] = (None, 0.0)
        self._carriers = None

    def update(self, shape: Shape, picture: Picture, scene: bpy.types.Scene, opacity: float) -> None:
        """Makes a new batch for a moved mesh or other colours."""
        same = self._shape is not None and np.array_equal(shape.points, self._shape.points)
        # Colliders move without the mesh.
        same = same and picture.field is not Field.PENETRATION
        if same and (picture.scale, opacity) == self._look:
            return
        values = picture.values(self, shape, scene)
        self.batch = None
        if len(values) <= len(shape.points):
            colours = picture.scale.colours(self._carried(values, shape))
            self.batch = shading.surface_batch(shape.points, shape.normals, colours, opacity, shape.triangles)
        self._shape, self._look = shape, (picture.scale, opacity)

    def _carried(self, values: np.ndarray, shape: Shape) -> np.ndarray:
        if len(values) == len(shape.points):
            return values
        if self._carriers is None or len(self._carriers[0]) != len(shape.points):
            self._carriers = evaluated_meshes.carriers(shape.points, len(values))
        rows, shares = self._carriers
        return (values[rows] * shares).sum(axis=1)


def skins(host: bpy.types.Object, count: int) -> list[Skin]:
    """The meshes of a body, none for a number of vertices other than in the build."""
    found, start = [], 0
    for obj in bodies.fleshed(host):
        end = start + meshes.vertex_count(obj)
        found.append(Skin(obj, slice(start, end)))
        start = end
    return found if start == count else []

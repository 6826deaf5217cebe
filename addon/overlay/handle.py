"""A handle on the chosen part in the viewport, which drags the part's amount."""

import math

import bpy
import jounce
import numpy as np
from mathutils import Matrix, Vector

from ..bridge.body import bodies, weight_maps
from ..bridge.rig import meshes
from ..core.body import built_bodies
from ..core.display import fields
from ..core.display.anchors import anchor
from ..core.display.fields import Field
from ..core.rig.part_settings import MOST_AMOUNT

# Pixels of the mouse for an amount of 1; ten times as many with Shift. Step with Ctrl.
PIXELS, FINER, STEP = 100.0, 10.0, 0.1
# Sides of a circle, radii of ring and disc, radius of the disc for an amount of 0.
SIDES, RING, WIDTH, LEAST = 32, 1.0, 0.12, 0.1
# Size on the screen.
SCALE = 0.22
# Modes with a handle.
MODES = ("OBJECT", "POSE")
COLOUR, LIT = (1.0, 0.55, 0.1), (1.0, 0.85, 0.5)

# The anchor found last: number of the mesh in its body, and vertex, by body, build and part. An object itself
# would be gone after an undo.
_anchors: dict[tuple, tuple[int, int] | None] = {}


def host_in(context: bpy.types.Context) -> bpy.types.Object | None:
    """The host of a body whose chosen part has a handle; None without one.

    A handle is there while the part's eye is on, and during a preview, but not during playback, and not in
    modes that change a mesh, after which the part may lie elsewhere.
    """
    obj, window = context.object, context.window_manager.jounce
    if context.mode not in MODES:
        _anchors.clear()
        return None
    host = None if obj is None or not window.handle else bodies.host_of(obj)
    if host is None or context.screen.is_animation_playing or host.jounce.part is None:
        return None
    is_seen = host.jounce.preview or window.field == Field.PART.value
    return host if is_seen and host.jounce.has_list else None


def anchor_of(host: bpy.types.Object) -> tuple[bpy.types.Object, int] | None:
    """Mesh and vertex in the middle of the chosen part; None if nothing of it is built."""
    body, part = built_bodies.CACHE.get(host.jounce.built_digest), host.jounce.part
    if not isinstance(body, jounce.Body):
        return None
    key, objects = (host.session_uid, host.jounce.built_digest, part.name), bodies.fleshed(host)
    if key not in _anchors:
        own = weight_maps.of_part(objects, part.name) if part.own else None
        shares, _ = fields.of_part(body, part.name, own)
        _anchors.clear()
        _anchors[key] = placed(objects, anchor(np.asarray(body.embedding.points), shares))
    found = _anchors[key]
    return None if found is None or found[0] >= len(objects) else (objects[found[0]], found[1])


def placed(objects: tuple[bpy.types.Object, ...], row: int | None) -> tuple[int, int] | None:
    """The number of the mesh of a row of the body's vertices, and the vertex in the mesh."""
    for number, obj in enumerate(objects if row is not None else ()):
        if row < meshes.vertex_count(obj):
            return number, row
        row -= meshes.vertex_count(obj)
    return None


def place_of(host: bpy.types.Object, context: bpy.types.Context) -> Vector | None:
    """The place of the handle in the world, on the displayed shape."""
    found = anchor_of(host)
    if found is None:
        return None
    obj, vertex = found
    shown = obj.evaluated_get(context.evaluated_depsgraph_get())
    if obj.mode == "EDIT" or vertex >= len(shown.data.vertices):
        return None
    return shown.matrix_world @ shown.data.attributes["position"].data[vertex].vector


class JOUNCE_GT_amount(bpy.types.Gizmo):
    """A ring with a disc, which grows with the amount of the chosen part"""

    bl_idname = "JOUNCE_GT_amount"

    __slots__ = ("before", "began", "disc", "ring")

    def setup(self) -> None:
        """Makes the shapes once."""
        if not hasattr(self, "ring"):
            self.ring = self.new_custom_shape("TRIS", band(RING - WIDTH, RING))
            self.disc = self.new_custom_shape("TRIS", band(0.0, RING - WIDTH))

    def draw(self, context: bpy.types.Context) -> None:
        """Draws ring and disc."""
        self.shapes(context, None)

    def draw_select(self, context: bpy.types.Context, select_id: int) -> None:
        """Draws what the mouse can take."""
        self.shapes(context, select_id)

    def shapes(self, context: bpy.types.Context, select_id: int | None) -> None:
        """The ring, and inside the disc of the present amount, whole for the mouse."""
        host = host_in(context)
        if host is None:
            return
        more = {} if select_id is None else {"select_id": select_id}
        full = 1.0 if select_id is not None else max(LEAST, host.jounce.part.amount / MOST_AMOUNT)
        self.draw_custom_shape(self.ring, **more)
        self.draw_custom_shape(self.disc, matrix=self.matrix_world @ Matrix.Scale(full, 4), **more)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Begins to drag."""
        host = host_in(context)
        if host is None:
            return {"CANCELLED"}
        self.before, self.began = host.jounce.part.amount, event.mouse_x
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event, tweak: set[str]) -> set[str]:
        """Sets the amount; to the right is more."""
        host = host_in(context)
        if host is None:
            return {"CANCELLED"}
        pixels = PIXELS * context.preferences.system.ui_scale * (FINER if "PRECISE" in tweak else 1.0)
        amount = self.before + (event.mouse_x - self.began) / pixels
        amount = round(amount / STEP) * STEP if "SNAP" in tweak else amount
        part = host.jounce.part
        part.amount = min(max(amount, 0.0), MOST_AMOUNT)
        name = fields.part_title(part.name)
        context.area.header_text_set(f"{name}: {part.amount:.2f}   (Shift, Ctrl, Esc)")
        return {"RUNNING_MODAL"}

    def exit(self, context: bpy.types.Context, cancel: bool) -> None:
        """Ends: restores the amount, or keeps the new amount as one step of undo."""
        context.area.header_text_set(None)
        host = host_in(context)
        if host is None:
            return
        if cancel:
            host.jounce.part.amount = self.before
        elif host.jounce.part.amount != self.before:
            bpy.ops.ed.undo_push(message="Amount")


class JOUNCE_GGT_part(bpy.types.GizmoGroup):
    """The handle of the chosen part"""

    bl_idname = "JOUNCE_GGT_part"
    bl_label = "Amount"
    bl_space_type, bl_region_type = "VIEW_3D", "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """True for a body with a part to drag."""
        return host_in(context) is not None

    def setup(self, _context: bpy.types.Context) -> None:
        """Makes the handle."""
        handle = self.gizmos.new(JOUNCE_GT_amount.bl_idname)
        handle.color, handle.color_highlight = COLOUR, LIT
        handle.alpha, handle.alpha_highlight = 0.7, 0.9
        handle.scale_basis, handle.use_draw_modal = SCALE, True

    def draw_prepare(self, context: bpy.types.Context) -> None:
        """Puts the handle on the part, towards the eye."""
        host = host_in(context)
        place = None if host is None else place_of(host, context)
        handle = self.gizmos[0]
        handle.hide = place is None
        if place is not None:
            turn = context.region_data.view_matrix.inverted().to_3x3().to_4x4()
            handle.matrix_basis = Matrix.Translation(place) @ turn


def band(inner: float, outer: float) -> list[tuple[float, float, float]]:
    """Corners of the triangles between two circles around the origin."""
    corners = [(math.cos(angle), math.sin(angle)) for angle in np.linspace(0.0, 2.0 * math.pi, SIDES + 1)]
    found = []
    for (a, b), (c, d) in zip(corners, corners[1:], strict=False):
        quad = [(r * x, r * y, 0.0) for r in (inner, outer) for x, y in ((a, b), (c, d))]
        found += [quad[0], quad[2], quad[3], quad[0], quad[3], quad[1]]
    return found

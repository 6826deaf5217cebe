"""A separate scene that evaluates only the inputs of a body, for reading many frames quickly.

The scene contains the body's armatures, the force fields, and the doubles of meshes with other rigs than
linear skinning. Meshes and colliders are excluded: for each, an empty copies the transform, which makes
Blender evaluate the place but not the shape, and an empty driven by the strength makes Blender evaluate the
host's animation. Dependencies (parents, constraints, drivers, NLA) are evaluated as well. Of the scene's own
properties, gravity and its keys are included; rigid bodies and all others are not; `unsound` reports them.
"""

import bpy

from ...core.stepping.motion import FrameInput
from ..body.bodies import BodyScene
from ..common import compat, hidden_scenes, marks, registry
from ..inputs import frame_inputs
from ..inputs.posed_meshes import PosedShapes
from ..loads import animated_settings
from ..rig import bone_transforms, rig_stack
from .motions import Motions

# Custom property of a stage: the session_uid of each evaluated object of the artist's.
GUESTS = "jounce_guests"
PHYSICS = frozenset(["CLOTH", "SOFT_BODY", "FLUID", "PARTICLE_SYSTEM", "DYNAMIC_PAINT"])


class Stage:
    """Reads the drives of a body at any frame without a change to the artist's scene. Close after use."""

    def __init__(self, of: Motions, scene: bpy.types.Scene) -> None:
        self._body = of.scene
        self._scene = hidden_scenes.new(scene)
        self._empties: list[bpy.types.Object] = []
        self._shapes: PosedShapes | None = None
        self._frame: int | None = None
        try:
            self._set_up(scene)
            self._shapes = PosedShapes(of.body, of.scene, self._scene, self._scene.view_layers[0])
        except BaseException:
            self.close()
            raise

    def _set_up(self, scene: bpy.types.Scene) -> None:
        """Copies the relevant properties of another scene."""
        body = self._body
        fields = dict.fromkeys(field for each in body.together for field in each.forces.fields)
        guests = (*body.reader.armatures, *fields)
        for guest in guests:
            self._scene.collection.objects.link(guest)
        self._scene[GUESTS] = [guest.session_uid for guest in guests]
        for obj in followed(body):
            follower = self._empty().constraints.new("COPY_TRANSFORMS")
            follower.target = obj
        for each in body.together:
            if bone_transforms.is_animated(each.host):
                self._evaluate_settings(each.host)
        self._scene.gravity, self._scene.use_gravity = scene.gravity, scene.use_gravity
        if varies(body, scene) and animated_settings.gravity_is_animated(scene):
            # A depsgraph animates its own scene only.
            moved = self._scene.animation_data_create()
            moved.action = scene.animation_data.action
            compat.put_slot(moved, compat.slot(scene.animation_data))

    def _evaluate_settings(self, host: bpy.types.Object) -> None:
        empty = self._empty()
        empty["strength"] = 0.0
        driver = empty.driver_add('["strength"]').driver
        driver.type = "SUM"
        target = driver.variables.new().targets[0]
        target.id, target.data_path = host, "jounce.strength"

    def _empty(self) -> bpy.types.Object:
        empty = bpy.data.objects.new(hidden_scenes.NAME, None)
        marks.put(empty, marks.STAGE)
        self._scene.collection.objects.link(empty)
        self._empties.append(empty)
        return empty

    def drive(self, frame: int) -> FrameInput:
        """The drive of a frame."""
        hidden_scenes.go_to(self._scene, frame)
        self._frame = frame
        return frame_inputs.read(self._body, self._scene.view_layers[0].depsgraph, self._shapes)

    def drive_by_hand(self, frame: int) -> FrameInput:
        """The drive of a frame with all later changes by hand, keyed or not."""
        if self._frame != frame:
            self.drive(frame)
            # The first evaluation sets keyed values; the second takes the present ones.
            for obj in (*self._body.reader.armatures, *self._body.objects):
                obj.update_tag()
        hidden_scenes.update(self._scene)
        return frame_inputs.read(self._body, self._scene.view_layers[0].depsgraph, self._shapes)

    @property
    def is_there(self) -> bool:
        """True if the scene has not been deleted."""
        return registry.is_there(self._scene)

    def close(self) -> None:
        """Removes the stage's own data, and nothing of other stages."""
        if self._shapes is not None:
            self._shapes.close()
        take_out([block for block in (self._scene, *self._empties) if registry.is_there(block)])


def clear() -> None:
    """Removes all stages from the file, such as stages restored by an undo step."""
    blocks = (*bpy.data.scenes, *bpy.data.objects, *bpy.data.meshes)
    take_out([block for block in blocks if is_staged(block)])


def take_out(blocks: list[bpy.types.ID]) -> None:
    """Removes scenes of stages and their data from the file.

    A scene shown in a window stays until no longer shown; one with objects added by the artist stays for
    good.
    """
    windows = (window for manager in bpy.data.window_managers for window in manager.windows)
    shown = {bpy.context.scene, *(window.scene for window in windows)}
    stages = [block for block in blocks if isinstance(block, bpy.types.Scene)]
    kept = [scene for scene in stages if scene in shown or has_more(scene)]
    in_use = {*kept, *(obj for scene in kept for obj in scene.objects)}
    bpy.data.batch_remove([block for block in blocks if block not in in_use])


def is_staged(block: bpy.types.ID) -> bool:
    """True if a scene, an object or a mesh was made for a stage."""
    return marks.has(block, marks.STAGE) and block.library is None


def has_more(stage: bpy.types.Scene) -> bool:
    """True if a scene is the only user of an object that no stage has added."""
    guests = set(stage.get(GUESTS, ()))
    return any(
        not is_staged(obj) and obj.session_uid not in guests and obj.users_scene == (stage,)
        for obj in stage.collection.all_objects
    )


def followed(body: BodyScene) -> set[bpy.types.Object]:
    """The objects of a body, of companions and of colliders."""
    return {obj for each in body.together for obj in (*each.objects, *each.colliders.objects)}


def varies(body: BodyScene, scene: bpy.types.Scene) -> bool:
    """True if settings of a body or its companions may differ between frames."""
    return any(animated_settings.varies(each.host, scene) for each in body.together)


def unsound(body: BodyScene, scene: bpy.types.Scene) -> str:
    """Reason why the drives of a body depend on more than a stage has, empty for none."""
    above = {*followed(body), *body.reader.armatures}
    for obj in tuple(above):
        above.update(bone_transforms.ancestors(obj))
    if scene.rigidbody_world is not None and any(obj.rigid_body is not None for obj in above):
        return "rigid bodies move it"
    if varies(body, scene) and animated_settings.gravity_is_moved(scene):
        return "drivers or strips move the scene's gravity"
    own = {obj for each in body.together for obj in each.objects}
    for obj in above:
        acting = rig_stack.modifiers(obj) if obj in own else obj.modifiers
        if any(modifier.type in PHYSICS for modifier in acting):
            return f"it follows the physics of {obj.name}"
    for obj in above:
        if any(reads_scene(block) for block in (obj, obj.data) if block is not None):
            return f"drivers of {obj.name} read the scene"
    return ""


def reads_scene(block: bpy.types.ID) -> bool:
    """True if a driver of a data-block reads properties of a scene."""
    data = block.animation_data
    variables = [] if data is None else [v for curve in data.drivers for v in curve.driver.variables]
    return any(
        variable.type == "CONTEXT_PROP" or isinstance(target.id, bpy.types.Scene)
        for variable in variables
        for target in variable.targets
    )

"""The settings and the state that Jounce keeps on objects, as `object.jounce`.

All data is plain and saved with the .blend. A host carries the settings of its body. The other meshes of a
body carry only the pointer to their host. Every mesh of a body remembers its binding and the additions of a
bake, and freeing the bake removes exactly these.

The built model is *not* kept in the .blend: the meshes, the rig, `bind_matrix` and the settings reproduce the
model in seconds, bit for bit, while the data can be tens of megabytes. `built_digest` tells if the model is
unchanged.
"""

from dataclasses import replace

import bpy

from ..bridge.body import bodies
from ..bridge.body.stitches import openings
from ..core.rig import part_settings
from .animated import keyed_where_read
from .bake import BakeProps
from .body import BodyProps
from .collisions import CollisionProps
from .diagnosis import DiagnosisProps
from .direct import DirectProps
from .fit import FitProps
from .learning import LearningProps
from .maps import MapProps
from .material import MaterialProps
from .member import MemberProps
from .modes import ModesProps
from .motion import MotionProps
from .muscles import MuscleProps
from .overrides import overridable
from .parts import PartProps
from .preset import PresetProps
from .preview import PreviewProps
from .shot import ShotProps
from .sound import SoundProps
from .stitches import StitchProps


@overridable
@keyed_where_read
class JounceObject(
    MemberProps,
    BodyProps,
    MapProps,
    ModesProps,
    StitchProps,
    MotionProps,
    MuscleProps,
    FitProps,
    MaterialProps,
    ShotProps,
    CollisionProps,
    PartProps,
    DirectProps,
    PresetProps,
    PreviewProps,
    LearningProps,
    BakeProps,
    SoundProps,
    DiagnosisProps,
    bpy.types.PropertyGroup,
):
    """Settings of a body (on its host) and the state of a mesh (on each of its meshes)."""

    @property
    def of_body(self) -> bpy.types.PropertyGroup:
        """The settings of the body of a mesh or an armature."""
        return bodies.host_of(self.id_data).jounce

    def built_from(self) -> tuple[object, ...]:
        """The settings that a build depends on, beside the meshes and the rig."""
        maps = (getattr(self, name) for name in MapProps.__annotations__)
        muscles = tuple((muscle.muscle_group, muscle.muscle_stiffness) for muscle in self.muscles)
        bones = self.bone_core, self.bones_counting, self.bones_collection
        rows = self.part_rows()
        parts = (
            self.anatomy,
            part_settings.acting(rows),
            tuple(replace(row, damping=1.0) for row in rows if row.own),
        )
        # The number of active groups concerns only groups that open.
        groups = openings(self.id_data)
        opening = tuple(groups.items()) if any(groups.values()) else ()
        return (self.build_settings(), *bones, *parts, self.folds, muscles, opening, *maps)

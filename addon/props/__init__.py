"""The settings and the state that Jounce keeps on objects, as `object.jounce`.

All of it is plain data that travels with the .blend. A host carries the settings of its body; the other
meshes of a body carry only the pointer to their host; every mesh of a body remembers where it was bound and
what a bake added to it, so that freeing the bake takes away exactly that.

The built model is *not* kept in the .blend: it follows from the meshes, the rig, `bind_matrix` and the
settings in seconds, bit for bit, while it can be tens of megabytes. `built_digest` says whether that is still
the same model.
"""

import bpy

from ..bridge.body import bodies
from ..bridge.body.stitches import openings
from .animated import keyed_where_read
from .bake import BakeProps
from .body import BodyProps
from .collisions import CollisionProps
from .diagnosis import DiagnosisProps
from .fit import FitProps
from .learning import LearningProps
from .maps import MapProps
from .material import MaterialProps
from .member import MemberProps
from .modes import ModesProps
from .motion import MotionProps
from .muscles import MuscleProps
from .overrides import overridable
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
    PreviewProps,
    LearningProps,
    BakeProps,
    SoundProps,
    DiagnosisProps,
    bpy.types.PropertyGroup,
):
    """Settings of a body (on its host) and the state of one of its meshes (on each of them)."""

    @property
    def of_body(self) -> bpy.types.PropertyGroup:
        """The settings of the body, whichever of its meshes or armatures this is."""
        return bodies.host_of(self.id_data).jounce

    def built_from(self) -> tuple[object, ...]:
        """What the artist has chosen that a build depends on, beside the meshes and the rig."""
        maps = (getattr(self, name) for name in MapProps.__annotations__)
        muscles = tuple((muscle.muscle_group, muscle.muscle_stiffness) for muscle in self.muscles)
        bones = self.bone_core, self.bones_counting, self.bones_collection
        # Which of them are on says only of those that open what their shares are of.
        groups = openings(self.id_data)
        opening = tuple(groups.items()) if any(groups.values()) else ()
        return (self.build_settings(), *bones, muscles, opening, *maps)

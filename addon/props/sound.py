"""Material of a body's sound, and the baked sound."""

import bpy
from bpy.props import EnumProperty, FloatProperty, PointerProperty, StringProperty

from ..core.shot.sound import SUBSTANCES, SoundSettings

MATERIALS = (
    ("STEEL", "Steel", "Bright, and rings for a second or longer"),
    ("BRONZE", "Bronze", "Bells and cymbals: rings longest"),
    ("GLASS", "Glass", "High, and clear for a second"),
    ("WOOD", "Wood", "Dry: gone within a tenth of a second"),
    ("PLASTIC", "Plastic", "Dull and short"),
)


class SoundProps:
    """Settings of the host. Sound and motion are independent: soft flesh may sound like bronze."""

    sound_material: EnumProperty(
        name="Material",
        description="Material of the body for the sound; the motion stays unchanged",
        items=MATERIALS,
    )
    sound_pitch: FloatProperty(
        name="Pitch",
        description="Factor on all audible frequencies, without unit: 2 is an octave higher",
        default=1.0,
        min=0.01,
        max=100.0,
        soft_min=0.25,
        soft_max=4.0,
    )
    sound_quietest: FloatProperty(
        name="Quietest Blow",
        description=(
            "Quietest audible blow, by its change of the body's speed, in percent of the hardest blow's"
        ),
        default=5.0,
        min=0.0,
        max=100.0,
        subtype="PERCENTAGE",
    )
    sound_ring_out: FloatProperty(
        name="Ring Out",
        description="Duration of the sound after the last frame, in seconds",
        default=2.0,
        min=0.0,
        max=60.0,
        soft_max=10.0,
        unit="TIME_ABSOLUTE",
    )

    bake_sound: PointerProperty(
        name="Baked Sound", description="The sound that was baked", type=bpy.types.Sound, options={"HIDDEN"}
    )
    bake_sound_path: StringProperty(
        name="Sound File",
        description="File of the sound, as a path of its .blend",
        options={"HIDDEN"},
    )
    bake_sound_blend: StringProperty(
        name="Sound Made In",
        description="The .blend that was open when the sound was made",
        options={"HIDDEN"},
    )
    bake_sound_editor: PointerProperty(
        name="Sound Made Sequencer",
        description="The scene that had no sequencer before the sound was baked",
        type=bpy.types.Scene,
        options={"HIDDEN"},
    )

    def sound_settings(self) -> SoundSettings:
        """Inputs of a sound beside the motion."""
        return SoundSettings(
            SUBSTANCES[self.sound_material],
            self.sound_pitch,
            self.sound_quietest / 100.0,
            self.sound_ring_out,
        )

"""Beats of the trailer: the words, what is shown, and for how long."""

from __future__ import annotations

from dataclasses import dataclass

from gallery_clips import CC0, CC_BY

# Frames a second, and pixels of the picture without the line of words below it.
RATE, WIDE, HIGH = 24, 960, 480
FOX = f"Fox: PixelMannen, {CC0}; rig: tomkranis, {CC_BY}"
MAGE, SUIT = f"Mage: Kay Lousberg, {CC0}", f"Man: Quaternius, {CC0}"


@dataclass(frozen=True)
class Beat:
    """A part of the trailer.

    words: below the picture; alone, a card. shot: name in `trailer_shots.SHOTS`, whose frames repeat. panels:
    of the shot, side by side, each with a label. stills: pictures of the documentation, one after the other.
    credit: author and licence of the character.
    """

    words: str
    frames: int
    shot: str = ""
    panels: tuple[tuple[str, str], ...] = ()
    stills: tuple[str, ...] = ()
    credit: str = ""
    more: str = ""

    @property
    def is_card(self) -> bool:
        """True if the beat shows words alone."""
        return not self.shot and not self.stills


BOTH = (("posed", "posed"), ("flesh", "with Jounce"))
BEATS = (
    Beat("Jounce", 72, more="Flesh for characters that are already animated"),
    Beat("A rig moves bones. The flesh on them stays stiff.", 120, "belly", (("posed", ""),)),
    Beat("One click: Add Jounce.", 132, stills=("tutorial_add", "tutorial_flesh")),
    Beat("Bellies land late and settle.", 180, "belly", BOTH),
    Beat("Ears and brush follow through.", 168, "ears", BOTH, credit=FOX),
    Beat("A skirt rises in each stride.", 152, "skirt", BOTH, credit=MAGE),
    Beat("A cape trails and swings round.", 120, "cape", (("flesh", ""),), credit=SUIT),
    Beat("Jelly squashes where it lands, and springs back.", 120, "landing", (("flesh", ""),)),
    Beat("Bake: plain shape keys. The file plays without Jounce.", 128, stills=("tutorial_bake",)),
    Beat("The same bake as glTF, for games.", 140, "game", (("flesh", ""),), credit=FOX),
    Beat("Jounce", 108, more="For Blender, Python and Rust"),
)

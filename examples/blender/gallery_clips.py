"""Clips of the gallery: characters under free licences, their actions, and the camera's views."""

from __future__ import annotations

from dataclasses import dataclass

from view import View

# Pixels of a panel's width, and most bytes of a clip, in the gallery and of the README's first picture.
WIDTH, MOST = 240, 250_000
FIRST_SIZE, FIRST_MOST = (600, 400), 1_500_000
# Licences of characters that may be shown.
CC0, MIT, CC_BY = "CC0", "MIT", "CC BY 4.0"
FREE = {CC0, MIT, CC_BY}
ROSE, SAND = (0.80, 0.22, 0.24), (0.80, 0.50, 0.26)
SIDE_VIEW = View(70.0)


@dataclass(frozen=True)
class Clip:
    """One looping picture of a character.

    file: stem of the character's file. action: end of an action's name; without one the character hops.
    frames: length of an action that plays once. before: turns of a cycle that play before the shown one; 0
    plays once. shown: the last frames alone are in the picture; 0 for a whole turn.
    preset: of the body, chosen after Add Jounce. amount: replaces the preset's, unless 0. coat: colour of a
    character that has none in its file. width, height: pixels of a panel; a height of 0 is the motion's.
    """

    picture: str
    file: str
    author: str
    action: str = ""
    frames: int = 48
    before: int = 0
    shown: int = 0
    preset: str = "Cartoon"
    amount: float = 0.0
    licence: str = CC0
    view: View = View()
    coat: tuple[float, float, float] | None = None
    width: int = WIDTH
    height: int = 0
    most: int = MOST

    def settings(self) -> dict[str, str | float]:
        """Settings of the body."""
        return {"preset": self.preset} | ({"strength": self.amount} if self.amount else {})


FOX = {
    "author": "PixelMannen, tomkranis",
    "action": "Run",
    "before": 3,
    "licence": f"{CC0}, {CC_BY}",
    "view": SIDE_VIEW,
}
LARGE = {"width": FIRST_SIZE[0], "height": FIRST_SIZE[1], "most": FIRST_MOST}
FIRST = Clip("first", "Fox", **FOX, preset="Realistic", amount=2.2, **LARGE)
# Follows the fox in the first picture: our own creature, which hops and lands.
SECOND = Clip(
    "first_creature", "creature", "", "Hop and twist", frames=30, shown=24, view=View(20.0), **LARGE
)
CLIPS = (
    Clip(
        "cow",
        "Cow",
        "Quaternius",
        "Run",
        before=3,
        amount=1.3,
        view=SIDE_VIEW,
        width=300,
    ),
    Clip(
        "slime",
        "Slime",
        "Quaternius",
        "Slime_Walk",
        before=3,
        preset="Realistic",
        amount=1.5,
        view=View(60.0),
    ),
    Clip(
        "suit",
        "Smooth_Male_Suit",
        "Quaternius",
        "Man_Run",
        before=4,
        preset="Realistic",
        amount=2.0,
        view=View(50.0, 0.24, 0.25, 1.0),
    ),
    Clip("fox", "Fox", **FOX, preset="Realistic"),
    Clip(
        "dragon",
        "Dragon",
        "Quaternius",
        "Dragon_Flying",
        before=2,
        preset="Realistic",
        amount=1.5,
        view=View(65.0),
    ),
    Clip(
        "mage",
        "kaykit_Mage",
        "Kay Lousberg",
        "Running_A",
        before=4,
        preset="Realistic",
        amount=2.5,
        view=View(-20.0, 0.24, 0.0, 0.6),
    ),
    Clip(
        "woman",
        "Animated_Woman_smooth",
        "Quaternius",
        "Running",
        before=6,
        preset="Realistic",
        amount=3.0,
        view=View(50.0, 0.24, 0.25, 1.0),
        coat=ROSE,
    ),
    Clip("frog", "Frog", "Quaternius", "Frog_Jump", before=3, width=300),
    Clip("snake", "Snake", "Quaternius", "Snake_Jump", before=3, preset="Realistic", amount=1.5),
    Clip("jump", "Smooth_Male_Suit", "Quaternius", "Man_Jump", before=2, amount=2.0, view=View(50.0)),
    Clip(
        "attack",
        "Slime",
        "Quaternius",
        "Slime_Attack",
        before=3,
        preset="Realistic",
        amount=1.5,
        view=View(60.0),
    ),
    Clip(
        "arnaud",
        "ozz_arnaud",
        "ProAnimationBank",
        amount=2.5,
        licence=MIT,
        view=View(28.0, 0.24, 0.3, 0.74),
        coat=SAND,
    ),
)

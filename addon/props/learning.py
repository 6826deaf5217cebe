"""What a body is to learn of its shots, and has learnt."""

from bpy.props import EnumProperty, StringProperty

COUNTS = (
    ("16", "16", "Small and quick: for a shot in which little happens"),
    ("32", "32", "Near to the final motion of most shots"),
    ("64", "64", "Nearest to the final motion. A step takes a quarter of a millisecond"),
)


class LearningProps:
    """Of the host."""

    displacements: EnumProperty(
        name="Displacements",
        description="How many displacements a shot is learnt in, at most. More come nearer, each costs time",
        items=COUNTS,
        default="64",
    )
    learnt_digest: StringProperty(
        name="Learnt",
        description="Hash of what was learnt; empty before the first shot",
        options={"HIDDEN"},
    )

"""Settings of learning, and facts about the learnt basis."""

from bpy.props import EnumProperty, StringProperty

COUNTS = (
    ("16", "16", "Small and quick: for a shot in which little happens"),
    ("32", "32", "Near to the final motion of most shots. A step takes about a third of a millisecond"),
    ("64", "64", "Nearest to the final motion. A step takes about half a millisecond"),
)


class LearningProps:
    """Settings of the host."""

    displacements: EnumProperty(
        name="Displacements",
        description=(
            "Largest number of learnt displacements of a shot; a larger number is closer to the final "
            "motion, and takes longer. Jounce adds the body's three lowest modes, for unseen motion"
        ),
        items=COUNTS,
        default="32",
    )
    learnt_digest: StringProperty(
        name="Learnt",
        description="Hash of what was learnt; empty before the first shot",
        options={"HIDDEN"},
    )

"""What the flesh is made of: its frequency, or the values of a real material."""

from bpy.props import EnumProperty, FloatProperty

from ..core.settings import Physical
from .refresh import refreshing

STIFFNESS_BY = (
    ("FREQUENCY", "Frequency", "Swings a second of the softest part: means the same for a mouse and a whale"),
    (
        "PHYSICAL",
        "Physical",
        "Young's modulus and density of a real material. A larger body of it swings more slowly, so the "
        "unit scale of the scene has to be right",
    ),
)


@refreshing
class MaterialProps:
    """Of the host; changes act without a new build."""

    stiffness_by: EnumProperty(name="Stiffness By", description="What sets the stiffness", items=STIFFNESS_BY)
    young: FloatProperty(
        name="Young's Modulus (Pa)",
        description="Stiffness of the material, in Pa: fat 2 thousand, muscle 3 thousand, rubber a million",
        default=2200.0,
        min=1.0,
        max=1e9,
        soft_min=100.0,
        soft_max=1e7,
        step=10000,
        precision=0,
    )
    density: FloatProperty(
        name="Density (kg/m³)",
        description="Mass of a cubic metre, in kilograms: fat 920, muscle 1060, rubber 1100",
        default=1000.0,
        min=1.0,
        max=30000.0,
        soft_min=500.0,
        soft_max=2000.0,
        precision=0,
    )
    built_frequency: FloatProperty(
        name="Built Frequency",
        description="Lowest frequency of the body as it was built, in Hz",
        default=0.0,
        options={"HIDDEN"},
    )

    def material(self) -> Physical | None:
        """The material, None where the frequency sets the stiffness."""
        return Physical(self.young, self.density) if self.stiffness_by == "PHYSICAL" else None

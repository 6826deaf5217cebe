# 35 kPa: of the 5 kPa to 140 MPa that are measured [Skin], what pressing across the skin finds.
import bpy

body = bpy.context.object.jounce.of_body

body.stiffness_by = "PHYSICAL"
body.young = 35000.0
body.density = 1100.0
body.poisson = 0.45
body.damping = 0.2

# Vulcanised natural rubber, shear modulus 0.5 MPa [Rubber]; E = 2 G (1 + nu).
import bpy

body = bpy.context.object.jounce.of_body

body.stiffness_by = "PHYSICAL"
body.young = 1450000.0
body.density = 950.0
body.poisson = 0.45
body.damping = 0.05

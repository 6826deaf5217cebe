# Shear modulus 1000 Pa at rest [FatMuscle]; E = 2 G (1 + nu).
import bpy

body = bpy.context.object.jounce.of_body

body.stiffness_by = "PHYSICAL"
body.young = 2900.0
body.density = 1060.0
body.poisson = 0.45
body.damping = 0.2

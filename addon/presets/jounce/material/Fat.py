# Shear modulus 752 Pa [FatMuscle]; E = 2 G (1 + nu).
import bpy

body = bpy.context.object.jounce.of_body

body.stiffness_by = "PHYSICAL"
body.young = 2180.0
body.density = 920.0
body.poisson = 0.45
body.damping = 0.2

# 40 kPa: the dermis of the forearm, in living people [Skin].
import bpy

body = bpy.context.object.jounce.of_body

body.stiffness_by = "PHYSICAL"
body.young = 40000.0
body.density = 1100.0
body.poisson = 0.45
body.damping = 0.2

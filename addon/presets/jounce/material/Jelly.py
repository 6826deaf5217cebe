# Gelatine, 20 parts of water [Gelatine].
import bpy

body = bpy.context.object.jounce.of_body

body.stiffness_by = "PHYSICAL"
body.young = 4340.0
body.density = 1010.0
body.poisson = 0.45
body.damping = 0.05

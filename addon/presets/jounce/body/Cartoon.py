import bpy

body = bpy.context.object.jounce.of_body

body.softness = 1.5
body.strength = 2.0
body.damping = 0.08
body.integrator = "bdf2"
body.use_limit = True
body.limit = 40.0
body.use_stretch = True
body.stretch = 90.0

import bpy

body = bpy.context.object.jounce.of_body

body.softness = 1.0
body.strength = 1.0
body.damping = 0.12
body.integrator = "backward_euler"
body.use_limit = True
body.limit = 25.0
body.use_stretch = True
body.stretch = 40.0

import bpy

body = bpy.context.object.jounce.of_body

body.softness = 3.0
body.strength = 1.0
body.damping = 0.25
body.integrator = "backward_euler"
body.use_limit = True
body.limit = 30.0
body.use_stretch = True
body.stretch = 60.0

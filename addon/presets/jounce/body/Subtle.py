import bpy

body = bpy.context.object.jounce.of_body

body.softness = 0.6
body.strength = 0.6
body.damping = 0.2
body.integrator = "backward_euler"
body.use_limit = True
body.limit = 15.0
body.use_stretch = True
body.stretch = 40.0

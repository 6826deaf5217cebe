import bpy

body = bpy.context.object.jounce.of_body

body.softness = 2.0
body.strength = 1.3
body.damping = 0.08
body.integrator = "backward_euler"
body.use_limit = True
body.limit = 40.0
body.use_stretch = True
body.stretch = 60.0

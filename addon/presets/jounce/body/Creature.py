import bpy

body = bpy.context.object.jounce.of_body

body.bone_core = 0.4
body.amount = 3.0
body.damping = 0.12

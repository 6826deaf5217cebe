import bpy

body = bpy.context.object.jounce.of_body

body.bone_core = 0.35
body.amount = 4.0
body.damping = 0.1

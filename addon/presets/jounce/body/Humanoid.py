import bpy

body = bpy.context.object.jounce.of_body

body.bone_core = 0.5
body.amount = 2.0
body.damping = 0.15

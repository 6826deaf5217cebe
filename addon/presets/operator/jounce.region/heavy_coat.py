import bpy

op = bpy.context.active_operator

op.stiffness = 0.15
op.elsewhere = 0.6
op.strength = 0.8
op.leak = 1.0

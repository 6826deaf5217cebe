"""What all of the bridge stands on: units, frames, versions of Blender, modifiers, F-curves, marks."""

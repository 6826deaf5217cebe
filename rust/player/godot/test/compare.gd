extends SceneTree
## Plays a GLB file with flesh in Godot, and writes the displacements of all points in all frames:
##
##     godot --headless --path PROJECT --script compare.gd -- FILE FRAMES SECONDS START TARGET
##
## Also skins the shown vertices as the engine does, and says how far they are from their displaced places.
## The project has the same file as the editor imported it, which must have its flesh.

const Gltf := preload("res://addons/jounce/jounce_gltf.gd")
const Flesh := preload("res://addons/jounce/jounce_flesh.gd")

var _steps := PackedInt64Array()
var _shapes := PackedInt64Array()


func _initialize() -> void:
	var arguments := OS.get_cmdline_user_args()
	var seconds := float(arguments[2])
	GLTFDocument.register_gltf_document_extension(Gltf.new(), true)
	var scene := _read(arguments[0], 1.0 / seconds)
	root.add_child(scene)
	var imported := (load("res://hero.glb") as PackedScene).instantiate()
	root.add_child(imported)
	var flesh: Flesh = scene.get_node("Flesh")
	flesh.plays = false
	await process_frame
	await process_frame
	if not flesh.body or not (imported.get_node("Flesh") as Flesh).body:
		printerr("ERROR: a scene has no flesh")
		quit(1)
	else:
		_play(scene, flesh, arguments, seconds)


func _read(path: String, rate: float) -> Node:
	var document := GLTFDocument.new()
	var state := GLTFState.new()
	var failed := document.append_from_file(path, state)
	if failed:
		printerr("%s cannot be read: %s" % [path, error_string(failed)])
		quit(1)
	return document.generate_scene(state, rate)


func _play(scene: Node, flesh: Flesh, arguments: PackedStringArray, seconds: float) -> void:
	var player: AnimationPlayer = scene.find_children("*", "AnimationPlayer", true, false)[0]
	player.play(player.get_animation_list()[0])
	player.pause()
	var file := FileAccess.open(arguments[4], FileAccess.WRITE)
	var apart := 0.0
	for frame in int(arguments[1]):
		player.seek(float(arguments[3]) + frame * seconds, true)
		var begin := Time.get_ticks_usec()
		flesh.advance(seconds)
		var frame_time := Time.get_ticks_usec() - begin
		begin = Time.get_ticks_usec()
		for number in flesh._surfaces.size():
			var carrier: Node3D = flesh._surfaces[number][0]
			flesh.body.vertices(number, carrier.global_transform)
		_shapes.append(Time.get_ticks_usec() - begin)
		_steps.append(frame_time - _shapes[-1])
		file.store_buffer(flesh.body.displacements())
		if frame % 50 == 49:
			apart = maxf(apart, _gap(flesh))
	_steps.sort()
	_shapes.sort()
	var times := {"step": _median(_steps), "shape": _median(_shapes)}
	print(JSON.stringify(times.merged({"shown_apart": apart, "engine": Engine.get_version_info()["string"]})))
	quit()


func _median(sorted: PackedInt64Array) -> int:
	return sorted[sorted.size() >> 1]


## Largest distance of a shown vertex from its posed place plus its displacement.
func _gap(flesh: Flesh) -> float:
	var moved := flesh.body.displacements().to_vector3_array()
	var most := 0.0
	var point := 0
	var number := 0
	for path in flesh.meshes:
		var instance: MeshInstance3D = flesh.get_node(path)
		for surface in instance.mesh.get_surface_count():
			var arrays := instance.mesh.surface_get_arrays(surface)
			var rest: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
			var carrier: Node3D = flesh._surfaces[number][0]
			var shown := flesh.body.vertices(number, carrier.global_transform).to_vector3_array()
			number += 1
			for vertex in rest.size():
				var blend := _blend(instance, arrays, vertex)
				var place := blend * rest[vertex] + moved[point]
				most = maxf(most, place.distance_to(blend * shown[vertex]))
				point += 1
	return most


## The transform from a mesh to the world at a vertex.
func _blend(instance: MeshInstance3D, arrays: Array, vertex: int) -> Transform3D:
	if not instance.skin:
		var attachment := instance.get_parent() as BoneAttachment3D
		var carrier: Skeleton3D = attachment.get_parent()
		return carrier.global_transform * carrier.get_bone_global_pose(attachment.bone_idx) * instance.transform
	var skeleton: Skeleton3D = instance.get_node(instance.skeleton)
	var bones: Array = arrays[Mesh.ARRAY_BONES]
	var weights: PackedFloat32Array = arrays[Mesh.ARRAY_WEIGHTS]
	var influences := weights.size() / (arrays[Mesh.ARRAY_VERTEX] as PackedVector3Array).size()
	var sum := Transform3D(Vector3.ZERO, Vector3.ZERO, Vector3.ZERO, Vector3.ZERO)
	for k in influences:
		var bind: int = bones[influences * vertex + k]
		var weight := weights[influences * vertex + k]
		if weight > 0.0:
			var named := instance.skin.get_bind_name(bind)
			var bone := skeleton.find_bone(named) if named else instance.skin.get_bind_bone(bind)
			var one := skeleton.get_bone_global_pose(bone) * instance.skin.get_bind_pose(bind)
			sum.basis.x += weight * one.basis.x
			sum.basis.y += weight * one.basis.y
			sum.basis.z += weight * one.basis.z
			sum.origin += weight * one.origin
	return skeleton.global_transform * sum

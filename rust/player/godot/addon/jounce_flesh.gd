class_name JounceFlesh
extends Node
## Moves the flesh of a character: takes the pose of its skeleton in each frame, and moves the vertices of its
## meshes at rest so that the skin carries them to their displaced places.
##
## The node comes with an imported file (JounceGltf). Put it after the AnimationPlayer in the tree.

## Settings of the player by number, as in jounce_player.h.
enum {
	AMOUNT,
	STIFFNESS,
	DAMPING,
	STRETCH,
	LIMIT,
	GRAVITY_X,
	GRAVITY_Y,
	GRAVITY_Z,
	MODES,
	SLEEP,
	POSE_REST,
	SUBSTEP,
}
## All settings.
const SETTINGS: Array[StringName] = [
	&"amount",
	&"stiffness",
	&"damping",
	&"stretch",
	&"limit",
	&"gravity",
	&"pose_rest",
	&"substep",
	&"modes",
	&"sleeps",
]

## Steps by itself in each frame; otherwise call `advance`.
@export var plays := true
## Factor on the motion that the flesh feels: 0 none, 1 as in nature.
@export_range(0.0, 3.0, 0.01, "or_greater") var amount := 1.0:
	set(value):
		amount = value
		_tell(AMOUNT, value)
## Factor on the stiffness of the model; frequencies scale with its square root.
@export var stiffness := 1.0:
	set(value):
		stiffness = value
		_tell(STIFFNESS, value)
## Damping ratio of every mode.
@export_range(0.0, 1.0, 0.01, "or_greater") var damping := 0.12:
	set(value):
		damping = value
		_tell(DAMPING, value)
## Largest change of a length, as a share; 0 for no limit.
@export_range(0.0, 1.0, 0.01, "or_greater") var stretch := 0.4:
	set(value):
		stretch = value
		_tell(STRETCH, value)
## Largest displacement, as a share of the body's diagonal; 0 for no limit.
@export_range(0.0, 1.0, 0.01, "or_greater") var limit := 0.25:
	set(value):
		limit = value
		_tell(LIMIT, value)
## Acceleration of gravity, m/s^2.
@export var gravity := Vector3.ZERO:
	set(value):
		gravity = value
		for axis in 3:
			_tell(GRAVITY_X + axis, value[axis])
## Elastic rest shape: 0 at the bind shape, 1 at the posed shape.
@export_range(0.0, 1.0, 0.01) var pose_rest := 1.0:
	set(value):
		pose_rest = value
		_tell(POSE_REST, value)
## Longest substep, seconds; a frame has at most eight.
@export var substep := 1.0 / 96.0:
	set(value):
		substep = value
		_tell(SUBSTEP, value)
## Level of detail: all modes, 8 or 0, whichever is at most this.
@export var modes := 1000:
	set(value):
		modes = value
		_tell(MODES, value)
## Stops while nothing moves.
@export var sleeps := true:
	set(value):
		sleeps = value
		_tell(SLEEP, float(value))
## Bytes of the model file.
@export_storage var model: PackedByteArray
## Path to each joint of the model: of a bone "Skeleton3D:Bone".
@export_storage var joints: Array[NodePath]
## From the rest space of the model to each joint.
@export_storage var inverse_binds: Array[Transform3D]
## Meshes that hang in the body.
@export_storage var meshes: Array[NodePath]

## The body, once the node is ready; null after an error.
var body: JounceBody
var _skeleton: Skeleton3D
## Joints that are no bones of the skeleton, with their numbers.
var _loose: Array[Array] = []
## Surfaces in order: mesh instance, the one whose transform carries it, mesh and number in it.
var _surfaces: Array[Array] = []
var _was_asleep := false


func _ready() -> void:
	if not model.is_empty() and not Engine.is_editor_hint():
		body = JounceBody.new()
		var wrong := body.load(model)
		if not wrong:
			wrong = _hang()
		if wrong:
			push_error("%s: %s" % [get_path(), wrong])
			body = null
			return
		for setting in SETTINGS:
			set(setting, get(setting))


func _process(seconds: float) -> void:
	if plays:
		advance(seconds)


## Steps to the present pose of the skeleton and shows the flesh.
func advance(seconds: float) -> void:
	if body:
		_place()
		_show(body.step(_skeleton, _to_world(_skeleton), seconds))


## Puts the flesh into the present pose without a kick, after a leap of the character.
func teleport() -> void:
	if body:
		_place()
		_show(body.teleport(_skeleton, _to_world(_skeleton)))


func _place() -> void:
	for joint: Array in _loose:
		var number: int = joint[0]
		var bone: int = joint[2]
		var node: Node3D = joint[1]
		var world := node.global_transform
		if bone >= 0:
			world *= (node as Skeleton3D).get_bone_global_pose(bone)
		body.place(number, world)


func _to_world(node: Node3D) -> Transform3D:
	return node.global_transform if node else Transform3D.IDENTITY


func _show(wrong: String) -> void:
	if wrong:
		push_error("%s: %s" % [get_path(), wrong])
		body = null
		return
	var is_asleep := body.is_asleep()
	if not (is_asleep and _was_asleep):
		for number in _surfaces.size():
			var carrier: Node3D = _surfaces[number][0]
			var mesh: RID = _surfaces[number][1]
			var vertices := body.vertices(number, carrier.global_transform)
			RenderingServer.mesh_surface_update_vertex_region(mesh, int(_surfaces[number][2]), 0, vertices)
	_was_asleep = is_asleep


func _tell(setting: int, value: float) -> void:
	if body:
		var wrong := body.set_setting(setting, value)
		if wrong:
			push_error("%s: %s" % [get_path(), wrong])


## Binds the body to bones, and its points to the vertices of the meshes.
func _hang() -> String:
	var bones := PackedInt32Array()
	var binds := PackedFloat32Array()
	for number in joints.size():
		var found := _bone(joints[number])
		var skeleton: Node3D = found[0]
		if not skeleton:
			return "%s is not there; import the file again" % joints[number]
		_skeleton = skeleton as Skeleton3D if int(found[1]) >= 0 and not _skeleton else _skeleton
		var is_own := skeleton == _skeleton and int(found[1]) >= 0
		bones.append(int(found[1]) if is_own else -1)
		if not is_own:
			_loose.append([number, skeleton, found[1]])
		var carried: Transform3D = found[2]
		binds.append_array(_rows(carried * inverse_binds[number]))
	var wrong := body.bind(bones.to_byte_array(), binds.to_byte_array())
	var places := PackedVector3Array()
	var parts: Array[Array] = []
	for path in meshes:
		var instance := get_node(path) as MeshInstance3D
		if not wrong and instance:
			wrong = _collect(instance, path, places, parts)
	if not wrong:
		wrong = body.attach(places.to_byte_array())
	for part in parts:
		if not wrong:
			wrong = body.callv("add_surface", part)
	return wrong


## Node and bone of a path, and the node's place on the bone. A node on a bone counts as the bone.
func _bone(path: NodePath) -> Array:
	var node := get_node_or_null(NodePath(path.get_concatenated_names())) as Node3D
	if node is Skeleton3D and path.get_subname_count() > 0:
		return [node, (node as Skeleton3D).find_bone(path.get_subname(0)), Transform3D.IDENTITY]
	var place := Transform3D.IDENTITY
	var above := node
	while above:
		var attachment := above as BoneAttachment3D
		if attachment:
			return [attachment.get_parent(), attachment.bone_idx, place]
		place = above.transform * place
		above = above.get_parent() as Node3D
	return [node, -1, Transform3D.IDENTITY]


## Gives an instance a mesh of its own, and adds the rest places and arrays of its surfaces.
func _collect(
	instance: MeshInstance3D, path: NodePath, places: PackedVector3Array, parts: Array[Array]
) -> String:
	var made := _unshared(instance)
	var skin := instance.skin
	var found := _skin_bones(instance) if skin else _rigid(path)
	var bones: PackedInt32Array = found[0]
	var binds: PackedFloat32Array = found[1]
	var to_rest: Variant = _to_rest(instance, path)
	if to_rest == null:
		return "%s hangs on no bone of the body; import the file again" % instance.name
	for surface in made.get_surface_count():
		var arrays := made.surface_get_arrays(surface)
		var rest: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
		var indices := PackedInt32Array()
		var weights := PackedFloat32Array()
		if skin:
			indices = PackedInt32Array(arrays[Mesh.ARRAY_BONES])
			weights = arrays[Mesh.ARRAY_WEIGHTS]
		elif not bones.is_empty():
			indices.resize(rest.size())
			weights.resize(rest.size())
			weights.fill(1.0)
		var part: Array = [places.size()]
		for array: Variant in [rest, bones, binds, indices, weights]:
			part.append(array.to_byte_array())
		parts.append(part)
		places.append_array((to_rest as Transform3D) * rest)
		_surfaces.append([_skeleton if not bones.is_empty() else instance, made.get_rid(), surface])
	return ""


## A copy of the mesh of an instance whose vertices are single floats, for this character alone.
func _unshared(instance: MeshInstance3D) -> ArrayMesh:
	var made := ArrayMesh.new()
	for surface in instance.mesh.get_surface_count():
		var arrays := instance.mesh.surface_get_arrays(surface)
		var count: int = (arrays[Mesh.ARRAY_VERTEX] as PackedVector3Array).size()
		var flags := Mesh.ARRAY_FLAG_USE_DYNAMIC_UPDATE
		var weights: Variant = arrays[Mesh.ARRAY_WEIGHTS]
		if weights and (weights as PackedFloat32Array).size() == 8 * count:
			flags |= Mesh.ARRAY_FLAG_USE_8_BONE_WEIGHTS
		made.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays, [], {}, flags)
		made.surface_set_material(surface, instance.mesh.surface_get_material(surface))
	instance.mesh = made
	return made


## Bones of the skeleton and inverse binds of an instance's skin.
func _skin_bones(instance: MeshInstance3D) -> Array:
	var bones := PackedInt32Array()
	var binds := PackedFloat32Array()
	for bind in instance.skin.get_bind_count():
		bones.append(_skin_bone(instance.skin, bind))
		binds.append_array(_rows(instance.skin.get_bind_pose(bind)))
	return [bones, binds]


func _skin_bone(skin: Skin, bind: int) -> int:
	var named := skin.get_bind_name(bind)
	return _skeleton.find_bone(named) if named else skin.get_bind_bone(bind)


## The bone that carries an instance without a skin, and the instance's place on it; none without a skeleton.
func _rigid(path: NodePath) -> Array:
	var found := _bone(path)
	if int(found[1]) < 0 or found[0] != _skeleton:
		return [PackedInt32Array(), PackedFloat32Array()]
	return [PackedInt32Array([found[1]]), _rows(found[2])]


## From the vertices of an instance to the rest space of the model; null if they share no joint.
func _to_rest(instance: MeshInstance3D, path: NodePath) -> Variant:
	if not instance.skin:
		return _beside(path)
	for bind in instance.skin.get_bind_count():
		var bone := _skin_bone(instance.skin, bind)
		for number in joints.size():
			var found := _bone(joints[number])
			if found[0] == _skeleton and int(found[1]) == bone and joints[number].get_subname_count() > 0:
				return inverse_binds[number].affine_inverse() * instance.skin.get_bind_pose(bind)
	return null


## To the rest space from an instance that moves with a joint: with the same bone, or at its node.
func _beside(path: NodePath) -> Variant:
	var own := _bone(path)
	for number in joints.size():
		var found := _bone(joints[number])
		if joints[number] == path or (found[0] == own[0] and found[1] == own[1] and int(own[1]) >= 0):
			var joint: Transform3D = found[2]
			var place: Transform3D = own[2]
			return (joint * inverse_binds[number]).affine_inverse() * place
	return null


## Rows of a transform, three of four numbers.
func _rows(it: Transform3D) -> PackedFloat32Array:
	var rows := PackedFloat32Array()
	for row in 3:
		rows.append_array([it.basis.x[row], it.basis.y[row], it.basis.z[row], it.origin[row]])
	return rows

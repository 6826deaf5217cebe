@tool
class_name JounceGltf
extends GLTFDocumentExtension
## Adds a JounceFlesh to an imported scene for each body in a file with the extension JOUNCE_flesh.
##
## The editor uses it for every import while the plug-in is on. A game that reads files by itself calls
## `GLTFDocument.register_gltf_document_extension(JounceGltf.new(), true)` once.

const NAME := "JOUNCE_flesh"
const Flesh := preload("jounce_flesh.gd")
## Settings of the file, by the names of JounceFlesh.
const SETTINGS := {
	"amount": "amount",
	"stiffness": "stiffness",
	"damping": "damping",
	"stretch": "stretch",
	"limit": "limit",
	"poseRest": "pose_rest",
	"substep": "substep",
}


func _get_supported_extensions() -> PackedStringArray:
	return [NAME]


func _import_post(state: GLTFState, root: Node) -> Error:
	var extensions: Dictionary = state.json.get("extensions", {})
	var bodies: Array = extensions.get(NAME, {}).get("bodies", [])
	for body: Dictionary in bodies:
		var flesh := Flesh.new()
		flesh.name = "Flesh"
		root.add_child(flesh, true)
		flesh.owner = root
		_fill(flesh, body, state)
	return OK


func _fill(flesh: Flesh, body: Dictionary, state: GLTFState) -> void:
	flesh.model = _view(state, int(body["model"]))
	var joints: Array = body["joints"]
	for joint: float in joints:
		flesh.joints.append(_path(flesh, int(joint), state))
	flesh.inverse_binds = _transforms(state, int(body["inverseBindMatrices"]))
	var nodes: Array = body["nodes"]
	for node: float in nodes:
		flesh.meshes.append(flesh.get_path_to(state.get_scene_node(int(node))))
	for setting: String in SETTINGS:
		if body.has(setting):
			flesh.set(SETTINGS[setting], body[setting])
	var gravity: Array = body.get("gravity", [0.0, 0.0, 0.0])
	flesh.gravity = Vector3(gravity[0], gravity[1], gravity[2])


## Path to a joint: of a bone, the skeleton's with the bone's name.
func _path(flesh: Node, joint: int, state: GLTFState) -> NodePath:
	var node: GLTFNode = state.nodes[joint]
	if node.skeleton < 0:
		return flesh.get_path_to(state.get_scene_node(joint))
	var skeleton: GLTFSkeleton = state.skeletons[node.skeleton]
	return NodePath("%s:%s" % [flesh.get_path_to(skeleton.get_godot_skeleton()), node.resource_name])


func _view(state: GLTFState, index: int) -> PackedByteArray:
	var view: GLTFBufferView = state.buffer_views[index]
	return view.load_buffer_view_data(state)


## Matrices of an accessor, which lie by columns.
func _transforms(state: GLTFState, index: int) -> Array[Transform3D]:
	var accessor: Dictionary = state.json["accessors"][index]
	var numbers := _view(state, int(accessor["bufferView"])).slice(int(accessor.get("byteOffset", 0)))
	var made: Array[Transform3D] = []
	for row in int(accessor["count"]):
		var columns: Array[Vector3] = []
		for column in 4:
			var at := 64 * row + 16 * column
			var entries := [0, 4, 8].map(func(of: int) -> float: return numbers.decode_float(at + of))
			columns.append(Vector3(entries[0], entries[1], entries[2]))
		made.append(Transform3D(columns[0], columns[1], columns[2], columns[3]))
	return made

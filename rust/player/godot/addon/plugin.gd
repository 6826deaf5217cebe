@tool
extends EditorPlugin
## Gives imported characters their flesh.

var _reader := preload("jounce_gltf.gd").new()


func _enter_tree() -> void:
	GLTFDocument.register_gltf_document_extension(_reader, true)


func _exit_tree() -> void:
	GLTFDocument.unregister_gltf_document_extension(_reader)

extends SceneTree
## Photographs the imported character in some frames: posed on the left, with flesh on the right. Needs a screen:
##
##     godot --path PROJECT --rendering-driver opengl3 --resolution 800x600 --script picture.gd -- FOLDER

const FRAMES := [10, 19, 34, 47]
const RATE := 24.0
const APART := 0.55


func _initialize() -> void:
	var folder := OS.get_cmdline_user_args()[0]
	var pair: Array[Node3D] = []
	for side: float in [-APART, APART]:
		var hero: Node3D = (load("res://hero.glb") as PackedScene).instantiate()
		root.add_child(hero)
		hero.position.x = side
		hero.get_node("Flesh").set("plays", false)
		pair.append(hero)
	_light()
	await process_frame
	for frame: int in FRAMES[-1] + 1:
		for hero in pair:
			_pose(hero, (1 + frame) / RATE)
		pair[1].get_node("Flesh").call("advance", 1.0 / RATE)
		if frame in FRAMES:
			await process_frame
			await RenderingServer.frame_post_draw
			root.get_texture().get_image().save_png("%s/frame_%02d.png" % [folder, frame])
	quit()


func _pose(hero: Node3D, seconds: float) -> void:
	var player: AnimationPlayer = hero.find_children("*", "AnimationPlayer", true, false)[0]
	player.play(player.get_animation_list()[0])
	player.pause()
	player.seek(seconds, true)


func _light() -> void:
	var camera := Camera3D.new()
	camera.projection = Camera3D.PROJECTION_ORTHOGONAL
	camera.size = 1.7
	camera.position = Vector3(0.0, 0.75, 3.0)
	var sun := DirectionalLight3D.new()
	sun.rotation = Vector3(-0.7, 0.5, 0.0)
	var sky := Environment.new()
	sky.background_mode = Environment.BG_COLOR
	sky.background_color = Color(0.95, 0.93, 0.88)
	sky.ambient_light_source = Environment.AMBIENT_SOURCE_COLOR
	sky.ambient_light_color = Color(0.6, 0.6, 0.65)
	var world := WorldEnvironment.new()
	world.environment = sky
	for node: Node in [camera, sun, world]:
		root.add_child(node)

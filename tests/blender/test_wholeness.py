"""Incomplete scenes: missing parts are named, and a command line refuses to continue without them."""

import bpy
import pytest
import scenes


def needs_scripts(_obj, rig, _folder):
    """Python, which Blender runs only with permission."""
    bone = rig.pose.bones["Lower"]
    bone.rotation_mode = "XYZ"
    curve = bone.driver_add("rotation_euler", 1)
    curve.driver.type = "SCRIPTED"
    curve.driver.expression = "__import__('math').sin(frame)"


def linked(folder):
    """An empty of another file with a swing."""
    source = bpy.data.objects.new("Goal", None)
    for frame, angle in ((1, 0.0), (5, 1.0), (9, 0.0)):
        source.rotation_euler.x = angle
        source.keyframe_insert("rotation_euler", frame=frame)
    bpy.data.libraries.write(str(folder / "goal.blend"), {source})
    bpy.data.objects.remove(source)
    with bpy.data.libraries.load(str(folder / "goal.blend"), link=True) as (_, wanted):
        wanted.objects = ["Goal"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    return wanted.objects[0]


def needs_a_library(_obj, rig, folder):
    rig.pose.bones["Lower"].constraints.new("COPY_ROTATION").target = linked(folder)


def needs_a_picture(obj, _rig, folder):
    """A picture that displaces the mesh."""
    image = bpy.data.images.new("Dents", 8, 8)
    image.filepath_raw, image.file_format = str(folder / "dents.png"), "PNG"
    image.save()
    texture = bpy.data.textures.new("Dents", "IMAGE")
    texture.image = image
    obj.modifiers.new("Dents", "DISPLACE").texture = texture


LACKING = {
    "scripts": (
        needs_scripts,
        None,
        "Scripts of this file may not run, which stops the driver of pose.bones[",
    ),
    "library": (needs_a_library, "goal.blend", "Goal is not found in //goal.blend; put it back"),
    "picture": (needs_a_picture, "dents.png", "Dents reads the file //dents.png, which is not there"),
}


@pytest.fixture(params=LACKING)
def lacking(request, tmp_path):
    """A saved shot, opened completely or not, and the sentence about its missing part."""
    change, lost, sentence = LACKING[request.param]
    obj, rig = scenes.character()
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    change(obj, rig, tmp_path)
    scenes.add_and_build(obj)
    bpy.ops.file.make_paths_relative()
    bpy.ops.wm.save_mainfile()

    def opened(whole):
        if not whole and lost is not None:
            (tmp_path / lost).rename(tmp_path / f"{lost}.away")
        bpy.ops.wm.open_mainfile(filepath=str(path), use_scripts=whole)
        obj = bpy.data.objects["Column"]
        scenes.activate(obj)
        return obj

    return opened, sentence


def found(obj):
    bpy.ops.jounce.diagnose()
    return [each.sentence for each in obj.jounce.findings]


def test_what_is_missing_is_found(lacking):
    opened, sentence = lacking
    before = found(opened(True))
    assert not any(each.startswith(sentence) for each in before)
    assert any(each.startswith(sentence) for each in found(opened(False)))


def test_a_bake_says_what_is_missing(lacking, module, monkeypatch):
    opened, sentence = lacking
    heard = []
    monkeypatch.setattr(module("ops.operator").JounceOperator, "warn", lambda _self, said: heard.append(said))
    opened(True)
    bpy.ops.jounce.bake()
    assert heard == []
    opened(False)
    bpy.ops.jounce.bake()
    assert [each for each in heard if each.startswith(sentence)] == heard[:1]


@pytest.mark.parametrize("command", ["bake", "simulate"])
def test_a_command_goes_on_only_where_it_is_told_to(lacking, command, module, tmp_path, capsys):
    opened, sentence = lacking
    out = tmp_path / "out"
    out.mkdir()
    where = ["--output", str(out / "baked.blend")] if command == "bake" else ["--shards", str(out)]
    main = module("cli").main
    opened(False)
    assert main([command, *where]) == 1
    said = capsys.readouterr().err
    assert f"error: {sentence}" in said and "--incomplete.\n" in said
    assert list(out.iterdir()) == []
    assert main([command, *where, "--incomplete"]) == 0
    assert f"warning: {sentence}" in capsys.readouterr().err
    assert list(out.iterdir()) != []


def test_what_the_body_does_not_depend_on_is_not_missed(module, tmp_path):
    obj, _ = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    other = scenes.column("Other")
    curve = other.driver_add("location", 0)
    curve.driver.type, curve.driver.expression = "SCRIPTED", "__import__('math').sin(frame)"
    other.parent = linked(tmp_path)
    image = bpy.data.images.new("Skin", 8, 8)
    image.source, image.filepath = "FILE", "//skin.png"
    material = bpy.data.materials.new("Skin")
    material.use_nodes = True
    material.node_tree.nodes.new("ShaderNodeTexImage").image = image
    obj.data.materials.append(material)
    scenes.add_and_build(obj)
    bpy.ops.wm.save_mainfile()
    (tmp_path / "goal.blend").unlink()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath, use_scripts=False)
    lacks = module("bridge.body.wholeness").lacks(bpy.data.objects["Column"], bpy.context)
    assert bpy.app.autoexec_fail and not any(lack.is_certain for lack in lacks)


def test_scripts_that_drive_nothing_of_the_body_are_only_told_of(module, tmp_path, capsys):
    obj, _ = scenes.character()
    text = bpy.data.texts.new("rig_ui.py")
    text.use_module = True
    scenes.add_and_build(obj)
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path), use_scripts=False)
    assert module("cli").main(["bake", "--output", str(tmp_path / "baked.blend")]) == 0
    assert "warning: Scripts of this file may not run (Text 'rig_ui.py')" in capsys.readouterr().err

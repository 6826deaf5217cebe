"""The interface in other languages: each translated text is shown, and Blender gets them all."""

import bpy
import messages
import pytest

COMPLETE = 0.95


@pytest.fixture
def languages(module):
    """The texts of each language."""
    return module("translations").languages()


@pytest.fixture
def shown(package):
    """Texts of the interface."""
    # Blender names a menu of presets after the last choice.
    bpy.types.JOUNCE_MT_materials.bl_label = "Materials"
    bpy.types.JOUNCE_MT_bodies.bl_label = "Presets"
    return messages.all_messages(package.__name__)


def test_german_is_there(languages, shown):
    assert languages["de"]["Jounce", "Bake"] == "Backen"
    assert languages["de"]["Jounce", "Damping Ratio"] == "Dämpfungsgrad"
    missing = [message for message in shown if message not in languages["de"]]
    assert len(missing) <= (1.0 - COMPLETE) * len(shown), missing


def test_each_text_is_one_that_is_shown(languages, shown):
    for language, texts in languages.items():
        stale = [message for message in texts if message not in shown]
        assert not stale, f"{language} translates what is not shown: {stale}"


def test_numbers_and_quoted_names_are_kept(languages):
    for texts in languages.values():
        for (_, english), text in texts.items():
            digits = [[c for c in t if c.isdigit()] for t in (english, text)]
            assert sorted(digits[0]) == sorted(digits[1]), english


def test_the_texts_come_and_go_with_the_extension(module):
    translations = module("translations")
    translations.unregister()
    translations.register()
    if bpy.app.build_options.international:
        with pytest.raises(ValueError, match="already"):
            bpy.app.translations.register(translations.__name__, {})

"""PO files as written by translators' tools."""

from jounce_core.common.po import parse

FILE = r"""
# Header of a tool.
msgid ""
msgstr "Language: de\n"

#: panels/bake.py:12
msgctxt "Operator"
msgid "Bake"
msgstr "Backen"

msgid ""
"A \"long\" text, "
"in two lines"
msgstr "Ein \"langer\" Text"

msgid "Not translated"
msgstr ""
"""


def test_entries_have_contexts_and_lines():
    assert parse(FILE) == {
        ("Operator", "Bake"): "Backen",
        ("*", 'A "long" text, in two lines'): 'Ein "langer" Text',
    }

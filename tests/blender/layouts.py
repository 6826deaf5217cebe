"""Draws panels, menus and lists without a window, on a recording layout as strict as Blender's.

An unknown function, argument, property, icon, menu or operator fails the test; in Blender's window a part of
the panel would be missing, with a line on the console.
"""

from types import SimpleNamespace
from typing import Any

import bpy

API = bpy.types.UILayout.bl_rna
PLACES = frozenset(["row", "column", "box", "split", "column_flow", "grid_flow"])


class Settings:
    """Properties of an operator's button: only existing ones."""

    def __init__(self, operator: str) -> None:
        category, name = operator.split(".")
        assert name in dir(getattr(bpy.ops, category)), f"there is no operator {operator}"
        known = getattr(getattr(bpy.ops, category), name).get_rna_type()
        vars(self)["known"] = known.properties

    def __setattr__(self, name: str, value: Any) -> None:
        assert name in self.known, f"the operator has no property {name}"
        prop = self.known[name]
        if prop.type == "ENUM":
            assert value in prop.enum_items, f"{name} cannot be {value}"
        vars(self)[name] = value


class Layout:
    """A layout, or a part of one; all parts of one record their items in the same list `drawn`."""

    def __init__(self, drawn: list | None = None) -> None:
        vars(self)["drawn"] = [] if drawn is None else drawn

    def __setattr__(self, name: str, value: Any) -> None:
        assert name in API.properties and not API.properties[name].is_readonly, f"no layout has {name}"

    def __getattr__(self, name: str) -> Any:
        assert name in API.functions, f"layouts have no {name}"
        return lambda *values, **named: self._call(API.functions[name], values, named)

    def _call(self, function: bpy.types.Function, values: tuple, named: dict) -> Any:
        taken = [parameter for parameter in function.parameters if not parameter.is_output]
        assert len(values) <= len(taken), f"{function.identifier} takes {len(taken)} arguments"
        given = dict(zip((parameter.identifier for parameter in taken), values, strict=False)) | named
        known = {parameter.identifier: parameter for parameter in taken}
        for name, value in given.items():
            assert name in known, f"{function.identifier} has no argument {name}"
            self._check(function.identifier, known[name], value)
        for parameter in taken:
            missing = parameter.is_required and parameter.identifier not in given
            assert not missing, f"{function.identifier} needs {parameter.identifier}"
        self.drawn.append((function.identifier, given))
        check = vars(Layout).get(f"_check_{function.identifier}")
        made = check(self, **given) if check is not None else None
        return Layout(self.drawn) if function.identifier in PLACES else made

    def _check(self, function: str, parameter: bpy.types.Property, value: Any) -> None:
        if parameter.type == "ENUM":
            assert value in parameter.enum_items, f"{function}: {parameter.identifier} cannot be {value}"
        if parameter.type == "STRING":
            assert isinstance(value, str), f"{function}: {parameter.identifier} is no text but {value!r}"

    def _check_operator(self, operator: str, **_: Any) -> Settings:
        return Settings(operator)

    def _check_prop(self, data: Any, property: str, **_: Any) -> None:
        assert property in data.bl_rna.properties, f"{data} has no {property}"

    def _check_prop_enum(self, data: Any, property: str, value: str, **_: Any) -> None:
        self._check_prop(data, property)
        assert value in data.bl_rna.properties[property].enum_items, f"{property} cannot be {value}"

    def _check_prop_search(
        self,
        data: Any,
        property: str,
        search_data: Any,
        search_property: str,
        **_: Any,
    ) -> None:
        self._check_prop(data, property)
        self._check_prop(search_data, search_property)

    def _check_template_list(
        self,
        listtype_name: str,
        dataptr: Any,
        propname: str,
        active_dataptr: Any,
        active_propname: str,
        **_: Any,
    ) -> None:
        assert issubclass(getattr(bpy.types, listtype_name), bpy.types.UIList)
        self._check_prop(dataptr, propname)
        self._check_prop(active_dataptr, active_propname)

    def _check_menu(self, menu: str, **_: Any) -> None:
        assert issubclass(getattr(bpy.types, menu), bpy.types.Menu)

    def texts(self) -> list[str]:
        """Texts of the labels."""
        return [given.get("text", "") for function, given in self.drawn if function == "label"]

    def operators(self) -> list[str]:
        """The operators of its buttons."""
        return [given["operator"] for function, given in self.drawn if function == "operator"]

    def properties(self) -> list[str]:
        """The names of the shown properties."""
        return [given["property"] for function, given in self.drawn if function.startswith("prop")]


class Context:
    """The context with the members of a window."""

    region = SimpleNamespace(width=300)
    preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)


def stand_in(cls: type) -> Any:
    """An object with the methods of a panel, menu or list, and a layout; Blender alone can make real ones."""
    own = {}
    for base in reversed(cls.__mro__):
        if ".panels" in base.__module__:
            own |= {name: value for name, value in vars(base).items() if not name.startswith("__")}
    return type(cls.__name__, (), own | {"layout": Layout()})()


def drawn(cls: type) -> Layout | None:
    """The present contents of a panel or menu, None if not shown."""
    if hasattr(cls, "poll") and not cls.poll(bpy.context):
        return None
    shown = stand_in(cls)
    for draw in ("draw_header", "draw_header_preset", "draw"):
        getattr(shown, draw, lambda _context: None)(Context())
    return shown.layout

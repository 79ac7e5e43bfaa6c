"""Stand-ins: they take the places of functions of the interpreter, for good."""

import ctypes
import gc
from collections.abc import Callable, Mapping
from types import ModuleType


class Standin:
    """Takes the place of a built-in function; like that it never becomes a method.

    Args:
        original: The function that it replaces.
        act: Its implementation.
    """

    def __init__(self, original: object, act: Callable[..., object]) -> None:
        self.__name__: str = getattr(original, "__name__", "")
        self.__qualname__ = self.__name__
        self.__doc__ = getattr(original, "__doc__", None)
        self.__module__: str = getattr(original, "__module__", None) or ""
        self._act = act

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Act."""
        return self._act(*args, **kwargs)

    def __reduce__(self) -> str:
        """Be pickled by name, as functions are."""
        return self.__name__


class Standins:
    """Stand-ins, which are put in place all at once."""

    def __init__(self) -> None:
        self._functions: list[tuple[ModuleType, str, Standin]] = []
        self._methods: list[tuple[type, Mapping[str, Callable[..., object]]]] = []

    def add(self, module: ModuleType, name: str, act: Callable[..., object]) -> None:
        """Replace a function of a module."""
        self._functions.append((module, name, Standin(getattr(module, name), act)))

    def add_methods(self, kind: type, methods: Mapping[str, Callable[..., object]]) -> None:
        """Replace class methods of a class that is written in C."""
        self._methods.append((kind, methods))

    def step_in(self) -> None:
        """Take the places."""
        for module, name, standin in self._functions:
            setattr(module, name, standin)
        for kind, methods in self._methods:
            [attributes] = gc.get_referents(vars(kind))
            attributes.update({name: classmethod(method) for name, method in methods.items()})
            ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))

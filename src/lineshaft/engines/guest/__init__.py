"""The Python program inside every engine.

It runs on CPython 3.11 to 3.14 with the standard library alone, inside WebAssembly and inside a
jailed process alike; `entry` is its way in. Its imports are relative: in the image and in the
child it is the package `_lineshaft`, whose modules a script cannot break or see (`private`).
"""

if __name__ == "_lineshaft":
    from . import private

    private.take_over(__name__, __path__[0], __spec__)

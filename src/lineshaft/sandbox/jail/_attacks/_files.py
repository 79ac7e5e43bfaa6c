"""Attacks on files outside.

The first line of each describes it; its result is the leak that it achieved.
"""

import ctypes
import os
import struct
import subprocess
import sys
from pathlib import Path

from lineshaft.sandbox.jail._attacks._frame import Targets, attack, call, read

assert sys.platform == "linux"  # noqa: S101  it runs in a jail


@attack("read /etc/passwd")
def passwd(_: Targets) -> object:
    return read("/etc/passwd")


@attack("read a file outside")
def outside(t: Targets) -> object:
    return read(t["secret"])


@attack("list a folder outside")
def listing(t: Targets) -> object:
    return list(Path(t["folder"]).iterdir())


@attack("see that a file outside exists, by its size")
def look(t: Targets) -> object:
    return Path(t["secret"]).stat().st_size


@attack("read outside through a symlink in the scratch folder")
def symlink(t: Targets) -> object:
    Path("link").symlink_to(t["secret"])
    return read("link")


@attack("read outside through a hard link in the scratch folder")
def hard_link(t: Targets) -> object:
    Path(t["near"]).hardlink_to(t["secret"])
    return read(t["near"])


@attack("read outside through /proc/self/root")
def proc_root(t: Targets) -> object:
    return read(f"/proc/self/root{t['secret']}")


@attack("read outside by a file handle")
def file_handle(t: Targets) -> object:
    handle = ctypes.create_string_buffer(struct.pack("Ii", 120, 0), 128)
    mount = ctypes.c_int()
    call(303, 264, -100, t["secret"].encode(), handle, ctypes.byref(mount), 0)
    fd = call(304, 265, os.open("/", os.O_RDONLY), handle, os.O_RDONLY)
    return os.read(fd, 100)


@attack("make a file outside")
def create(t: Targets) -> object:
    return Path(t["folder"], "made").write_bytes(b"x")


@attack("make a folder outside")
def make_folder(t: Targets) -> object:
    return Path(t["folder"], "made-folder").mkdir()


@attack("truncate a file outside")
def truncate(t: Targets) -> object:
    return os.truncate(t["spare"], 1)


@attack("change the mode of a file outside")
def chmod(t: Targets) -> object:
    return Path(t["spare"]).chmod(0o640)


@attack("change the times of a file outside")
def utime(t: Targets) -> object:
    return os.utime(t["spare"], (1, 1))


@attack("change the owner of a file outside")
def chown(t: Targets) -> object:
    return os.chown(t["spare"], os.getuid(), os.getgid())


@attack("set an extended attribute outside")
def xattr(t: Targets) -> object:
    return os.setxattr(t["spare"], "user.lineshaft", b"x")


@attack("delete a file outside")
def delete(t: Targets) -> object:
    return Path(t["spare"]).unlink()


@attack("rename a file outside")
def rename(t: Targets) -> object:
    return Path(t["doomed"]).rename(t["doomed"] + ".moved")


@attack("write to the bundled Python")
def bundle(t: Targets) -> object:
    place = Path(t["bundle_file"]).with_name("lineshaft-probe")
    place.touch()
    place.unlink()


@attack("run a program of the machine")
def run_program(_: Targets) -> object:
    return subprocess.run(["/usr/bin/id"], capture_output=True, check=True).stdout


@attack("run a shell")
def run_shell(_: Targets) -> object:
    return subprocess.run(["/bin/sh", "-c", "echo x"], capture_output=True, check=True).stdout

"""The cache of native code: made once, believed only if nobody else could have written it."""

import hashlib
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lineshaft.sandbox.webassembly._native import NativeCache

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="platform: owners and modes")

CODE = b"native code " * 1_000


class Making:
    """Makes code and counts how often."""

    def __init__(self, code: bytes = CODE) -> None:
        self.code = code
        self.made = 0

    def __call__(self) -> bytes:
        self.made += 1
        return self.code


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "cache" / "webassembly", tmp_path / "state" / "webassembly"


@pytest.fixture
def cache(places: tuple[Path, Path]) -> Callable[..., NativeCache]:
    def new(make: Callable[[], bytes], name: str = "a.native") -> NativeCache:
        return NativeCache(name, make, *places)

    return new


def _content(handle: int | bytes) -> bytes:
    if isinstance(handle, bytes):
        return handle
    return os.pread(handle, 1 << 20, 0)


def test_it_is_made_once(cache: Callable[..., NativeCache]) -> None:
    make = Making()
    first = cache(make).get()
    second = cache(make).get()
    assert (first.made, second.made, make.made) == (True, False, 1)
    assert first.place == second.place == "cache"
    assert _content(second.handle) == CODE


def test_another_name_is_other_code(cache: Callable[..., NativeCache]) -> None:
    cache(Making()).get()
    other = Making(b"other")
    assert _content(cache(other, "b.native").get().handle) == b"other"
    assert other.made == 1


def test_nobody_else_can_read_or_write_it(
    cache: Callable[..., NativeCache], places: tuple[Path, Path]
) -> None:
    cache(Making()).get()
    for folder in places:
        for each in (folder, *folder.iterdir()):
            assert not each.stat().st_mode & 0o022, each
            assert each.stat().st_uid == os.geteuid()


def test_its_hash_is_not_only_beside_it(
    cache: Callable[..., NativeCache], places: tuple[Path, Path]
) -> None:
    cache(Making()).get()
    assert places[1].joinpath("a.native").read_text() == hashlib.sha256(CODE).hexdigest()


def test_code_without_its_hash_counts_as_missing(
    cache: Callable[..., NativeCache], places: tuple[Path, Path]
) -> None:
    kept = cache(Making())
    assert not kept.is_there()
    kept.get()
    assert kept.is_there()
    places[1].joinpath("a.native").unlink()
    assert not kept.is_there()


def _changed(file: Path, hash_file: Path) -> None:
    file.write_bytes(CODE.replace(b"native", b"foreign"))


def _changed_with_a_hash_beside_it(file: Path, hash_file: Path) -> None:
    data = CODE.replace(b"native", b"foreign")
    file.write_bytes(data)
    file.with_name("a.native.sha256").write_text(hashlib.sha256(data).hexdigest())


def _cut(file: Path, hash_file: Path) -> None:
    file.write_bytes(CODE[:-1])


def _emptied(file: Path, hash_file: Path) -> None:
    file.write_bytes(b"")


def _open_to_others(file: Path, hash_file: Path) -> None:
    file.chmod(0o666)


def _in_an_open_folder(file: Path, hash_file: Path) -> None:
    file.parent.chmod(0o777)


def _a_link(file: Path, hash_file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


def _without_its_hash(file: Path, hash_file: Path) -> None:
    hash_file.unlink()


def _with_a_hash_that_others_wrote(file: Path, hash_file: Path) -> None:
    hash_file.chmod(0o666)


@pytest.mark.parametrize(
    "spoil",
    [
        _changed,
        _changed_with_a_hash_beside_it,
        _cut,
        _emptied,
        _open_to_others,
        _in_an_open_folder,
        _a_link,
        _without_its_hash,
        _with_a_hash_that_others_wrote,
    ],
)
def test_a_file_that_cannot_be_believed_is_made_again(
    spoil: Callable[[Path, Path], None],
    cache: Callable[..., NativeCache],
    places: tuple[Path, Path],
) -> None:
    cache(Making()).get()
    spoil(places[0] / "a.native", places[1] / "a.native")
    again = Making()
    found = cache(again).get()
    assert again.made == 1
    assert _content(found.handle) == CODE


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="platform: only root gives away")
def test_a_file_of_another_user_is_made_again(
    cache: Callable[..., NativeCache], places: tuple[Path, Path]
) -> None:
    cache(Making()).get()
    os.chown(places[0] / "a.native", 12_345, 12_345)
    again = Making()
    cache(again).get()
    assert again.made == 1


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="platform: only root can be two")
def test_what_root_made_is_taken_by_a_user_who_cannot_write_it() -> None:
    """The hash beside it is enough then: the user has none of it in a state folder."""
    home = Path(tempfile.mkdtemp())  # the folders of a test are closed to other users
    folder = home / "cache"
    NativeCache("a.native", Making(), folder, home / "state").get()
    home.chmod(0o755)
    make = Making()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.setgid(12_345)
        os.setuid(12_345)
        found = NativeCache("a.native", make, folder, None).get()
        os.write(writer, f"{found.place},{make.made}".encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    try:
        assert os.read(reader, 100).decode() == "root's cache,0"
    finally:
        os.close(reader)
        shutil.rmtree(home)


def test_what_was_believed_no_longer_changes(
    cache: Callable[..., NativeCache], places: tuple[Path, Path]
) -> None:
    cache(Making()).get()
    found = cache(Making()).get()
    (places[0] / "a.native").write_bytes(b"overwritten in its place")
    if sys.platform == "linux":
        assert isinstance(found.handle, int)
        assert _content(found.handle) == CODE
        with pytest.raises(PermissionError):
            os.pwrite(found.handle, b"x", 0)


def test_without_a_folder_it_is_made_in_memory(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    for place in (None, in_the_way / "cache"):
        found = NativeCache("a.native", Making(), place, None).get()
        assert (found.place, found.made) == ("memory", True)
        assert _content(found.handle) == CODE


def test_of_many_that_need_it_at_once_one_makes_it(cache: Callable[..., NativeCache]) -> None:
    all_there = threading.Barrier(8)
    make = Making()
    found: list[bytes] = []

    def work() -> None:
        all_there.wait()
        found.append(_content(cache(make).get().handle))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert make.made == 1
    assert found == [CODE] * 8


def test_what_nobody_used_for_long_goes_when_another_one_is_made(
    cache: Callable[..., NativeCache], places: tuple[Path, Path]
) -> None:
    for name in ("old.native", "new.native"):
        cache(Making(), name).get()
    os.utime(places[0] / "old.native", (0, 0))
    cache(Making()).get()
    assert sorted(path.name for path in places[0].glob("*.native")) == ["a.native", "new.native"]

from pathlib import Path, PurePosixPath
paths = [PurePosixPath(p) for p in await list_files(folder="src")]
p = Path("a/b") / "c.tar.gz"
return [
    [q.name for q in paths], [q.stem for q in paths], str(paths[0].parent), p.suffix, p.as_posix(),
    list(p.parts), str(p.with_suffix(".zip")), p.is_absolute(),
]

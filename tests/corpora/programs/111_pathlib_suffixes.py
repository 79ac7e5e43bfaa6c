from pathlib import PurePosixPath
groups = {}
for path in map(PurePosixPath, await list_files()):
    groups.setdefault(path.suffix or "none", []).append(path.stem)
return {suffix: sorted(stems) for suffix, stems in groups.items()}

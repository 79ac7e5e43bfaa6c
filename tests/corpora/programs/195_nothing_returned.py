for path in await list_files(folder="config"):
    text = await read_file(path=path)
    print(f"{path}: {text['lines']}")

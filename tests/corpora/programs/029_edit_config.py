settings = json.loads((await read_file(path="config/settings.json"))["content"])
settings["debug"] = True
settings["hosts"].append("c.test")
await write_file(path="config/settings.json", content=json.dumps(settings, indent=2))
check = json_parse((await read_file(path="config/settings.json"))["content"])
check

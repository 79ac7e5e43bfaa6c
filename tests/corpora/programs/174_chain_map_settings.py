from collections import ChainMap
stored = json.loads((await read_file(path="config/settings.json"))["content"])
settings = ChainMap({"debug": True}, stored, {"port": 80, "retries": 9})
return {"debug": settings["debug"], "retries": settings["retries"], "port": settings["port"], "keys": sorted(settings)}

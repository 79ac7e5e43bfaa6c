class Settings:
    _instance = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.values = {}
        return cls._instance

Settings().values["host"] = "a.test"
return [Settings() is Settings(), Settings().values]

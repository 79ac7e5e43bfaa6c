class Record:
    def __init__(self, data):
        self.data = data
    def __getattr__(self, name):
        return self.data[name]

record = Record(await get_user(id=1))
return getattr(record, "team", "unknown")

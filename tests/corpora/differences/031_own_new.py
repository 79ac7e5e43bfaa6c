class Single:
    made = None
    def __new__(cls):
        if cls.made is None:
            cls.made = object.__new__(cls)
        return cls.made

return Single() is Single()

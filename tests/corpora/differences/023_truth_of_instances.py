class Result:
    def __init__(self, ok):
        self.ok = ok
    def __bool__(self):
        return self.ok

return ["yes" if Result(ok) else "no" for ok in (True, False)]

class Safe:
    def __init__(self):
        self.__code = 42
    def code(self):
        return self.__code

s = Safe()
return [s.code(), hasattr(s, "__code"), hasattr(s, "_Safe__code")]

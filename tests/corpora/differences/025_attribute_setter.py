class Upper:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value.upper())

u = Upper()
u.name = "ada"
return u.name

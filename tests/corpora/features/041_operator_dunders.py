class Version:
    def __init__(self, text):
        self.parts = tuple(int(p) for p in text.split("."))
    def __lt__(self, other):
        return self.parts < other.parts
    def __eq__(self, other):
        return self.parts == other.parts
    def __hash__(self):
        return hash(self.parts)
    def __add__(self, n):
        return Version(".".join(map(str, (*self.parts[:-1], self.parts[-1] + n))))
    def __len__(self):
        return len(self.parts)
    def __getitem__(self, i):
        return self.parts[i]
    def __contains__(self, n):
        return n in self.parts
    def __bool__(self):
        return any(self.parts)
    def __call__(self):
        return "called"
    def __iter__(self):
        return iter(self.parts)
    def __repr__(self):
        return "v" + ".".join(map(str, self.parts))

versions = [Version(t) for t in ("1.10.0", "1.2.9", "1.2.0")]
return [
    str(sorted(versions)), Version("1.0") == Version("1.0"), repr(Version("1.2") + 3), len(versions[0]),
    versions[0][1], 10 in versions[0], bool(Version("0.0")), versions[0](), list(versions[1]), len({Version("1.0"), Version("1.0")}),
]

class Key:
    def __init__(self, name):
        self.name = name.lower()
    def __eq__(self, other):
        return isinstance(other, Key) and self.name == other.name
    def __hash__(self):
        return hash(self.name)

seen = {Key("Rope"): 1}
seen[Key("ROPE")] = 2
return [len(seen), seen[Key("rope")], Key("a") == Key("A"), Key("a") != Key("b"), Key("a") in [Key("A")]]

import unicodedata
names = ["Björn", "Zoë", "François"]
plain = ["".join(c for c in unicodedata.normalize("NFD", n) if not unicodedata.combining(c)) for n in names]
await write_file(path="names.txt", content="\n".join(plain))
plain

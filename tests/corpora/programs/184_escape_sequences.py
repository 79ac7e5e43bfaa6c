text = "tab\there\nquote\"s \\ back'slash\x41\u0042"
raw = r"\n stays"
multi = """first
  second \
joined"""
print(text)
print(repr(text))
return [len(text), raw, multi, "a" "b" 'c', b"\x00\xff".hex()]

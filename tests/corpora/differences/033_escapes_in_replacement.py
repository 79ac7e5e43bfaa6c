return re.sub(r";", r"\n", "a;b")

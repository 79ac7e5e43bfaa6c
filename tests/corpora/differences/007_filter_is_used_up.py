words = filter(None, ["a", "", "b"])
return [len(list(words)), len(list(words))]

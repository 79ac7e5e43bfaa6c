numbered = enumerate("ab", 1)
return [list(numbered), list(numbered)]

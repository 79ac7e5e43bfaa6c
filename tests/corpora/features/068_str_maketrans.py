table_ = str.maketrans("abc", "xyz", "-")
return ["a-b-c d".translate(table_), "héllo".translate(str.maketrans({"é": "e", "l": None}))]

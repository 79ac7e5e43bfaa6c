import difflib
a = "one\ntwo\nthree".splitlines()
b = "one\n2\nthree\nfour".splitlines()
diff = list(difflib.unified_diff(a, b, "old", "new", lineterm=""))
return [diff, difflib.get_close_matches("ancor", ["anchor", "rope"]), round(difflib.SequenceMatcher(None, "abcd", "bcde").ratio(), 4)]

import operator
rows = [{"n": 2, "m": "b"}, {"n": 1, "m": "c"}, {"n": 2, "m": "a"}]
rows.sort(key=operator.itemgetter("n", "m"))
return [[r["m"] for r in rows], operator.mul(6, 7), operator.attrgetter("real")(5), operator.methodcaller("upper")("a")]

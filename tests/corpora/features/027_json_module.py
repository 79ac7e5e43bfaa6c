import json
data = {"b": [1, 2.5, None, True], "a": {"x": "é\n\"q\""}}
text = json.dumps(data)
back = json.loads(text)
return [
    text, back == data, json.dumps(data, sort_keys=True, indent=2), json.dumps("é", ensure_ascii=False),
    json.dumps([1, 2], separators=(",", ":")), json.loads("[1e3, -0.5]"),
]

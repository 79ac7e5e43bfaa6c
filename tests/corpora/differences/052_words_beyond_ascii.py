"""What counts as a character of a word: powers and fractions do, combining marks do not."""

text = "5 m\u00b2 of cafe\u0301, \u00bd cup"
print(re.findall(r"\w+", text))
return [re.findall(r"\b\d+\b", "10\u00b2 5"), re.sub(r"\W", "", text), len(re.split(r"\W+", text))]

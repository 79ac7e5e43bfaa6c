snake = re.sub(r"([a-z])([A-Z])", r"\1_\2", "camelCaseString").lower()
unit = re.compile(r"(\d+)").sub(r"\1px", "10 20")
return [snake, unit, re.sub(r"(\w+) (\w+)", "\\2_\\1", "hello world")]

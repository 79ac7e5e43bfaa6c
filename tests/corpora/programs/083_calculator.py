def parse(text):
    tokens = re.findall(r"\d+\.?\d*|[-+*/()]", text)
    position = 0

    def expression():
        nonlocal position
        value = term()
        while position < len(tokens) and tokens[position] in "+-":
            op = tokens[position]
            position += 1
            value = value + term() if op == "+" else value - term()
        return value

    def term():
        nonlocal position
        value = factor()
        while position < len(tokens) and tokens[position] in "*/":
            op = tokens[position]
            position += 1
            value = value * factor() if op == "*" else value / factor()
        return value

    def factor():
        nonlocal position
        token = tokens[position]
        position += 1
        if token == "(":
            value = expression()
            position += 1
            return value
        if token == "-":
            return -factor()
        return float(token)

    return expression()

return [parse(t) for t in ("1 + 2 * 3", "(1 + 2) * 3", "-4 / (2 - 10)", "2 * (3 + (4 - 1)) / 3")]

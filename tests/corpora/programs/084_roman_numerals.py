VALUES = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]

def to_roman(n):
    out = ""
    for value, letters in VALUES:
        while n >= value:
            out += letters
            n -= value
    return out

def from_roman(text):
    n = 0
    for value, letters in VALUES:
        while text.startswith(letters):
            n += value
            text = text[len(letters):]
    return n

numbers = [i["number"] * 137 for i in await github.list_issues()]
romans = [to_roman(n) for n in numbers]
assert [from_roman(r) for r in romans] == numbers
romans

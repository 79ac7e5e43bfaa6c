def to_base(n, base):
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    out = ""
    while n:
        n, rest = divmod(n, base)
        out = digits[rest] + out
    return out or "0"

numbers = [0, 7, 255, 4096]
return [[to_base(n, b) for b in (2, 8, 16, 36)] for n in numbers] + [[bin(10), oct(64), hex(255), int("ff", 16), int("0b11", 0)]]

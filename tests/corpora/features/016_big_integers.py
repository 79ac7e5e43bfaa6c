n = 2 ** 200 + 3 ** 100
digits = sum(int(c) for c in str(n))
fact = 1
for k in range(1, 31):
    fact *= k
return [str(n), digits, fact, n % 1_000_007, pow(7, 200, 13), -7 // 2, -7 % 3, divmod(10**20, 7)]

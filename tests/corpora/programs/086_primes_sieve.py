def sieve(limit):
    flags = [True] * (limit + 1)
    flags[0] = flags[1] = False
    for n in range(2, int(math.sqrt(limit)) + 1):
        if flags[n]:
            for multiple in range(n * n, limit + 1, n):
                flags[multiple] = False
    return [n for n, is_prime in enumerate(flags) if is_prime]

primes = sieve(100)
twins = [(a, b) for a, b in zip(primes, primes[1:]) if b - a == 2]
return {"count": len(primes), "last": primes[-1], "twins": twins}

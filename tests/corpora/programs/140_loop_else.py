def find_factor(n):
    for k in range(2, int(n ** 0.5) + 1):
        if n % k == 0:
            break
    else:
        return None
    return k

return {n: find_factor(n) for n in map(str, ())} or [find_factor(n) for n in (7, 9, 91, 97)]

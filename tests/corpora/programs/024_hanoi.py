def hanoi(n, source, target, spare, moves):
    if n == 0:
        return moves
    hanoi(n - 1, source, spare, target, moves)
    moves.append(f"{source}->{target}")
    return hanoi(n - 1, spare, target, source, moves)

moves = hanoi(4, "A", "C", "B", [])
print(len(moves), moves[:4])
moves[-1]

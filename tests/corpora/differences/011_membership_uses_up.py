squares = (n * n for n in range(5))
return [4 in squares, list(squares)]

back = reversed([1, 2, 3])
return [list(back), list(back)]

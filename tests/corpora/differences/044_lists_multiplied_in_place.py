row = [1, 2]
same = row
row *= 2
return same

s = list(range(10))
t = s[:]
t[2:5] = ["x"]
word = "harbour"
return [s[::2], s[::-1][:3], s[-3:], s[8:2:-2], t, word[1:-1], word[::-1], s[20:], (1, 2, 3)[1:]]

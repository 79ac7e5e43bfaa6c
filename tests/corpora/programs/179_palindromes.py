def is_palindrome(text):
    letters = [c.lower() for c in text if c.isalnum()]
    return letters == letters[::-1]

def longest(text):
    best = ""
    for i in range(len(text)):
        for a, b in ((i, i), (i, i + 1)):
            while a >= 0 and b < len(text) and text[a] == text[b]:
                a, b = a - 1, b + 1
            if b - a - 1 > len(best):
                best = text[a + 1:b]
    return best

return [is_palindrome("A man, a plan, a canal: Panama"), is_palindrome("rope"), longest("the racecar stops"), longest("abba")]

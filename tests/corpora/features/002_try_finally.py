steps = []
def work(n):
    try:
        steps.append(f"start {n}")
        return 10 // n
    except ZeroDivisionError as error:
        steps.append(type(error).__name__)
        return -1
    else:
        steps.append("never: returned before")
    finally:
        steps.append("done")

return [work(5), work(0), steps]

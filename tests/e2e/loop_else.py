"""Programs with `else` of loops, as text that is a kernel's and Python's at once: they note where they were."""

PROGRAMS = {
    "for": """
    for i in range(n):
        if i == m:
            seen += 1
            break
        seen += 10
    else:
        seen += 1000
    """,
    "nothing leaves": """
    for i in range(n):
        if i == m:
            continue
        seen += 10
    else:
        seen += 1000
    """,
    "while": """
    i = 0
    while i < n:
        i += 1
        if i > m:
            break
        seen += 10
    else:
        seen += 1000
    seen += i
    """,
    "the other loop's": """
    for i in range(n):
        for j in range(i, 5):
            if j == m:
                break
            seen += 10
        else:
            seen += 1000
            if i == 2:
                break
            if i == 1:
                continue
            seen += 7
        seen += 1
    else:
        seen += 100000
    """,
    "returned": """
    for i in range(n):
        if i == m:
            return seen + 1
        if i == 4:
            break
        seen += 10
    else:
        if m == 7:
            return seen - 1
        seen += 1000
    seen += 5
    """,
    "unrolled": """
    for i in tl.static_range(4):
        if i == m:
            break
        for j in tl.static_range(3):
            if j == 5:
                break
            seen += 1
        else:
            seen += 100
    else:
        seen += 1000
    """,
    "in branches": """
    if n > 2:
        for i in range(n):
            if i == m:
                break
        else:
            while seen < n * 10:
                seen += 4
                if seen == m:
                    break
            else:
                return seen
            seen += 2
        seen += 1
    """,
}

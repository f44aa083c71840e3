"""Whether a matrix of integers is positive definite, without rounding."""


def leading_minors_positive(matrix: list[list[int]]) -> bool:
    """Whether a symmetric matrix is positive definite (Sylvester's criterion), exactly."""
    rows, last = [list(row) for row in matrix], 1
    for at in range(len(rows)):
        pivot = rows[at][at]
        if pivot <= 0:
            return False
        for row in rows[at + 1 :]:
            factor = row[at]
            row[at:] = [
                (pivot * x - factor * y) // last
                for x, y in zip(row[at:], rows[at][at:], strict=True)
            ]
        last = pivot
    return True

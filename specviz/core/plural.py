"""A number with its noun, in the singular or the plural."""


def counted(n: int, one: str, many: str = "") -> str:
    """``counted(1, "pass", "passes")`` is "1 pass"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"

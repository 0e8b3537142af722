"""How long the rest takes, at the pace so far."""


def time_left_s(elapsed_s: float, done: int, under_way: int, total: int) -> float | None:
    """Seconds until the last of `total` episodes ends; None where none has ended yet.

    An episode that is under way counts as half done: where many are played at once, those that have
    ended are only a part of the work so far. Its other half is not taken from what is left: near
    the end fewer are played at once than before.
    """
    return elapsed_s / (done + under_way / 2) * (total - done) if done else None

"""That a file of ours cannot be used as it is; apart from database.py, since that takes long to load."""


class Unusable(Exception):
    """The sentence says what is wrong, and what the owner can do.

    lost   what was in it is not to be had back from it: only a backup helps
    """

    def __init__(self, sentence: str, *, lost: bool = False) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.lost = lost

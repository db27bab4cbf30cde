"""Prints the figures: `python -m tests.intake`."""

import sys
from random import Random

from tests.intake import measure, ordinary
from tests.intake.planted import MOULDS
from tests.intake.second.__main__ import said
from tests.intake.third.__main__ import said as said_of_third


def main() -> None:
    known, near = measure.known(Random(1)), measure.by_words(Random(2))
    count, lines, wrong = measure.alarms(ordinary.chat(Random(4), 3000))
    pieces, code_lines, wrong_code = measure.alarms(ordinary.code())
    sys.stdout.write(
        f"{len(MOULDS)} kinds, {known.planted} planted, found {known.rate:.2%}\n"
        f"by the words beside: {near.planted} planted, found {near.rate:.2%}\n"
        f"chat near such words: {count} messages, {lines} lines, {len(wrong)} false alarms\n"
        f"our own code: {pieces} messages, {code_lines} lines, {len(wrong_code)} false alarms\n"
        f"{said()}{said_of_third()}"
    )


if __name__ == "__main__":
    main()

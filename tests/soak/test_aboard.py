"""The clock that is set: whoever looks while it is written sees one time or the other."""

import os
import subprocess
import sys
from pathlib import Path

from tests.soak.aboard import Clock

TIMES = 100_000
WRITE = f"""
import sys
from pathlib import Path
from tests.soak.aboard import Clock
clock = Clock(Path(sys.argv[1]))
for second in range({TIMES}):
    clock.ahead_s = 1e6 + second
"""


def test_a_look_at_the_clock_while_it_is_set_sees_no_other_time(tmp_path: Path) -> None:
    clock = Clock(tmp_path / "clock")
    assert clock.ahead_s == 0.0
    clock.ahead_s = 1e6
    with subprocess.Popen(
        [sys.executable, "-c", WRITE, tmp_path / "clock"], cwd=os.curdir
    ) as other:
        seen = [clock.ahead_s]
        while other.poll() is None:
            seen.append(clock.ahead_s)
    assert other.returncode == 0
    assert seen == sorted(seen)
    assert clock.ahead_s == 1e6 + TIMES - 1

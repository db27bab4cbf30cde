"""A shell's text is read as a shell reads it."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules import shell, shell_reader, stakes
from engine.rules.shell_reader import HOLE

AS_BASH = [
    "a b  c",
    "gi't' p\"us\"h",
    r"g\it pu\sh 'a\b' \"x\" \'y",
    r'"a \$b \"c\" \d" e',
    r"$'\x67it' $'a\tb' $'it\'s' $'\101'",
    "p{u,}sh {a,b}{1,2} x{y",
    "a\\\nb c \\\n d",
    "a #b c",
    "a#b 'c#d'",
    "a\"\" '' b",
    "~ a=b --x=y",
    '$"a b" c',
]


@pytest.mark.parametrize("text", AS_BASH)
def test_words_are_what_bash_makes_of_them(text: str) -> None:
    made = subprocess.run(
        ["bash", "-c", f"HOME='~'; printf '%s\\0' {text}"], capture_output=True, check=True
    )
    (command,) = [one for one in shell_reader.read(text).commands if one.words]
    assert [word.text for word in command.words] == made.stdout.decode().split("\0")[:-1]


def test_what_is_worked_out_is_a_hole_and_what_runs_for_it_is_read() -> None:
    (command,) = shell_reader.read('echo "it is $(date -u)" $X ${Y:-$(id)} <(ls)').commands
    holes = [HOLE.findall(word.text) for word in command.words]
    assert holes == [[], ["("], ["X"], [""], ["<("]]
    inner = [[one.text for one in each.words] for word in command.words for each in word.inner]
    assert inner == [["date", "-u"], ["id"], ["ls"]]


def test_a_body_belongs_to_the_command_that_reads_it() -> None:
    first, *others = shell_reader.read("cat <<'A' - <<B; ls\n1 $x\nA\n2 $x\nB\npwd").commands
    assert [one.body for one in first.redirects] == ["1 $x\n", "2 \x01x\x02\n"]
    assert [[word.text for word in one.words] for one in others if one.words] == [["ls"], ["pwd"]]


@pytest.mark.parametrize("text", ["'a", '"a', "$(a", "`a", "${a", "$(" * 40, "a" + " b" * 9])
def test_what_has_no_end_is_read_roughly_and_says_so(text: str) -> None:
    assert not shell_reader.read(text, 8).whole


@given(st.text(alphabet="ab '\"\\$(){}<>|&;`\n#*=-/", max_size=60))
def test_what_always_would_keep_is_read_alike_by_both(text: str) -> None:
    parts = shell.parts(text)
    if parts is not None:
        loose = [one for one in shell_reader.read(text).commands if one.words]
        assert [part.words for part in parts] == [
            tuple(word.text for word in one.words) for one in loose
        ]
        assert not any(sign in text for sign in "$`\\*{}()<>\n#")


@pytest.mark.parametrize(
    "text",
    ["$(", "$((", "`", "${", "<<a ", "<<a\n", "{a,b}", "'", "(", "<(", '"$(', "git -c a=", "\\"],
)
def test_signs_in_heaps_are_judged_to_their_end(text: str) -> None:
    heap = text * (40_000 // len(text))
    found = stakes.of_command(f"{heap}\nnpm publish", unfenced=True)
    assert found or text in ("<<a ", "<<a\n")

"""What is written in a file, read leniently: a key must be found however its file was saved.

A file counts as a text when hardly any of its bytes are control characters, NULs apart: a stray NUL,
and UTF-16 without the mark that says so, are still text. Pure. Neighbour: sent.py, which has the words
looked through and, where a key was taken out, keeps them in place of the bytes.
"""

_CONTROL = bytes(sorted({*range(1, 32), 127} - set(b"\t\n\r\f\v\b\x1b")))
MOST_CONTROL = 0.05  # of what is no NUL; among random bytes it is twice that
HALF = 0.8  # of the bytes at even places, or at odd ones, are NUL: so UTF-16 writes plain letters


def words_of(data: bytes) -> tuple[str | None, str]:
    """Return what is written in a file, and the codec that turns it back; None if it is no text."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace"), "utf-16"
    if b"\0" in data:
        if not _is_text(data):
            return None, ""
        if codec := _wide(data):
            return data.decode(codec, "replace"), codec
        data = data.replace(b"\0", b"")
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"  # any bytes: a key in it is found all the same


def _is_text(data: bytes) -> bool:
    written = len(data) - data.count(0)
    plain = len(data.translate(None, _CONTROL)) - data.count(0)
    return written - plain <= written * MOST_CONTROL


def _wide(data: bytes) -> str:
    """Return which UTF-16 this is, "" if it is none."""
    pairs = len(data) // 2
    if data[1::2].count(0) >= max(1, pairs * HALF) and data[::2].count(0) < pairs * (1 - HALF):
        return "utf-16-le"
    if data[::2].count(0) >= max(1, pairs * HALF) and data[1::2].count(0) < pairs * (1 - HALF):
        return "utf-16-be"
    return ""

"""An SSH key pair of this box's own, made when it is first needed and kept below secrets/.

The public line may be shown to anybody; the private file is read by ssh, or asyncssh, in the engine's
name alone, and no run sees the folder. Neighbours: deploy_keys.py (a pair for each project), ssh.py (one
for all machines).
"""

from __future__ import annotations

import os
from pathlib import Path


def public_line(private: Path, comment: str) -> str:
    """Return the line that lets the holder of `private` in; the pair is made if there is none."""
    from cryptography.hazmat.primitives import serialization as form  # slow, and seldom needed

    if not private.exists():
        _make(private)
    key = form.load_ssh_private_key(private.read_bytes(), password=None)
    public = key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH)
    return f"{public.decode('ascii')} {comment}"


def _make(private: Path) -> None:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    body = Ed25519PrivateKey.generate().private_bytes(
        form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption()
    )
    rough = private.with_name(f"{private.name}.new")
    rough.unlink(missing_ok=True)
    handle = os.open(rough, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as writing:
        writing.write(body)
        writing.flush()
        os.fsync(writing.fileno())
    rough.replace(private)

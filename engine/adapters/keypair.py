"""An SSH key pair of this box's own, as text: nothing here touches a disk.

The public line may be shown to anybody; the private half lies in the vault, and is held in the engine's
memory while it signs in somewhere. Neighbours: own_keys.py keeps them, deploy_keys.py (a pair for each
project) and ssh.py (one for all machines) use them.
"""

from __future__ import annotations


def made() -> str:
    """Return the private half of a new pair."""
    from cryptography.hazmat.primitives import serialization as form  # slow, and seldom needed
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    body = Ed25519PrivateKey.generate().private_bytes(
        form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption()
    )
    return body.decode("ascii")


def public_line(private: str, comment: str) -> str:
    """Return the line that lets the holder of `private` in."""
    from cryptography.hazmat.primitives import serialization as form

    key = form.load_ssh_private_key(private.encode("ascii"), password=None)
    public = key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH)
    return f"{public.decode('ascii')} {comment}"


def is_private(text: bytes) -> bool:
    """Return whether this is the private half of a pair as we make them, whole."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        return isinstance(form.load_ssh_private_key(text, password=None), Ed25519PrivateKey)
    except ValueError:
        return False

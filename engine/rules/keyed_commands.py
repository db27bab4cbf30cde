"""The commands with a key that Always may keep: tools that ask their service and tell, and do no more.

    aws ec2 describe-instances --region eu-west-1      hcloud server list      pg_isready -h db

In the table is what takes its key from a variable, starts no other program, reads no file or setting of the
tree (many a tool lets one there say which host it asks: with the key), prints no key and changes nothing.
All else is unknown, however harmless it looks, and asked for each time: gh runs git there, psql whatever a
line of it says, sentry-cli and vercel read where to go. Pure. Neighbours: known_commands.py has how rows
are written and the table for commands without keys, keyed_rule.py asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.rules import known_commands
from engine.rules.irreversible import KEYS, pieces
from engine.rules.known_commands import Known, known

_AWS: Final = "--region:name --output:name --query:text --max-items:number --no-cli-pager"
_DOCTL: Final = known("--format:name --no-header -o:name --output:name")
_HCLOUD: Final = known("-o:text --output:text --selector:text -l:text")
_GCLOUD: Final = known("--project:name --region:name --zone:name --limit:number --format:text")
_POSTGRES: Final = "-h:name --host:name -p:number --port:number -U:name --username:name -d:name -q"

TABLE: Final[dict[str, Known]] = known_commands.rows(
    {
        "aws": known(_AWS, first="name", words="looking", least=2),
        "aws s3 ls": known("--region:name --human-readable --summarize", "bucket"),
        "doctl account get, doctl balance get, doctl apps list, doctl databases list": _DOCTL,
        "doctl compute droplet list, doctl compute region list, doctl projects list": _DOCTL,
        "doctl kubernetes cluster list, doctl compute domain list": _DOCTL,
        "hcloud server list, hcloud volume list, hcloud network list, hcloud image list": _HCLOUD,
        "hcloud load-balancer list, hcloud firewall list, hcloud location list": _HCLOUD,
        "gcloud projects list, gcloud run services list, gcloud compute instances list": _GCLOUD,
        "gcloud container clusters list, gcloud sql instances list": _GCLOUD,
        "linode-cli linodes list, linode-cli regions list, linode-cli domains list": known(
            "--json --text --pretty --no-headers"
        ),
        "vultr-cli instance list, vultr-cli regions list, vultr-cli account": known("-o:name"),
        "scw instance server list, scw account project list": known("-o:name"),
        "pg_isready": known(f"{_POSTGRES} -t:number"),
        "pg_dump": known(f"{_POSTGRES} --schema-only -s --no-owner --no-privileges"),
        "redis-cli, valkey-cli": known(
            "-h:name -p:number -n:number --tls --user:name --no-auth-warning",
            first="asking",
            least=1,
        ),
        "mysqladmin": known("-h:name -P:number -u:name", first="asking", least=1),
        "date": known("-u -R"),
        "true": known(),
    }
)


def understood(argv: Sequence[str]) -> bool:
    """Whether a command is in the table, each word of it, and names nothing that holds keys."""
    about = any(pieces(word) & KEYS for word in argv[1:])
    return not about and known_commands.fits(TABLE, tuple(argv))

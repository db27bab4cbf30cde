"""Which host a rule for reading pages may name: one exact public name, over https.

A page's address carries words out as well as in. So no host whose name leads back into one's own
network, none that anybody makes to collect what is sent to it, and none spelt so as to be misread.
The list is of names, so never whole: the owner reads the host before it is kept. Pure.
Neighbour: always.py.
"""

from __future__ import annotations

import re
from typing import Final

from engine.rules.shell import named

_SITE: Final = re.compile(r"https://((?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*)(?::443)?(?:[/?#].*)?", re.I)
_LONGEST: Final = 100
# Names that only a house, an office or a box itself knows.
_INWARD: Final = named(
    "local localhost localdomain internal intranet lan home box arpa onion corp private priv test invalid "
    "example alt i2p consul svc cluster"
)
# Names that stand for any address one likes, one's own box as well.
_WILDCARDS: Final = named(
    "nip.io sslip.io xip.io localtest.me lvh.me vcap.me lacolhost.com local.gd localho.st fuf.me "
    "backname.io traefik.me 1u.ms rbndr.us"
)
# What shows its maker all that is sent to it, or takes texts from anybody.
_COLLECTORS: Final = named(
    "webhook.site webhook.cool requestbin.com requestbin.net pipedream.com pipedream.net beeceptor.com "
    "requestcatcher.com hookbin.com hookdeck.com smee.io ptsv2.com ptsv3.com typedwebhook.tools mockbin.org "
    "ngrok.io ngrok.app ngrok.dev ngrok-free.app ngrok-free.dev loca.lt localtunnel.me serveo.net "
    "trycloudflare.com bore.pub pagekite.me localhost.run lhr.life tunnelmole.net ts.net devtunnels.ms "
    "oast.pro oast.live oast.site oast.online oast.fun oast.me interact.sh burpcollaborator.net "
    "oastify.com dnslog.cn ceye.io canarytokens.com canarytokens.org httpbin.org httpbin.com "
    "postman-echo.com pastebin.com hastebin.com ghostbin.com dpaste.com dpaste.org rentry.co paste.ee "
    "paste.rs ix.io sprunge.us termbin.com 0x0.st transfer.sh file.io gofile.io gist.github.com "
    "gist.githubusercontent.com api.telegram.org discord.com discordapp.com hooks.slack.com "
    "script.google.com forms.gle workers.dev vercel.app netlify.app herokuapp.com onrender.com fly.dev "
    "railway.app glitch.me replit.app repl.co deno.dev web.app bit.ly tinyurl.com t.co is.gd"
)
_TELLING: Final = re.compile(r"(web)?hooks?|pastes?|metadata|localhost|xn--.*|requestbins?")
_ADDRESS: Final = re.compile(r"(?:^|[.-])\d{1,3}(?:[.-]\d{1,3}){3}(?:[.-]|$)|(?:^|\.)[0-9a-f]{8}\.")


def of(url: object) -> str:
    """Return the host of an address, as a rule would name it; "" where none may."""
    found = _SITE.fullmatch(url) if isinstance(url, str) and url.isascii() else None
    if found is None or len(found[1]) > _LONGEST:
        return ""
    host = found[1].lower()
    labels = host.split(".")
    above = {".".join(labels[at:]) for at in range(len(labels))}
    if labels[-1] in _INWARD or above & (_WILDCARDS | _COLLECTORS) or _ADDRESS.search(host):
        return ""
    return "" if any(_TELLING.fullmatch(label) for label in labels) else host

"""Keys of every kind, made up as they are needed: from parts, so that no file here ever holds one.

A mould is a provider's fixed word and, in angle brackets, a letter for an alphabet and how many of it.
Written beside the rules, by the same understanding of each format: it shows that both agree in bot/intake/.
"""

from __future__ import annotations

import re
import string
from random import Random
from typing import Final
from uuid import UUID

ALPHABETS: Final = {
    "A": string.ascii_letters + string.digits,
    "B": string.ascii_letters + string.digits + "_-",
    "H": "0123456789abcdef",
    "L": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "S": string.ascii_letters + string.digits + "+/",
    "D": string.digits,
}

MOULDS: Final = {
    "anthropic": "sk-ant-api03-<B93>AA",
    "anthropic login": "sk-ant-oat01-<B93>AA",
    "openrouter": "sk-or-v1-<H64>",
    "openai project": "sk-proj-<B74>T3BlbkFJ<B74>",
    "openai old": "sk-<A48>",
    "openai service": "sk-svcacct-<A58>",
    "groq": "gsk_<A52>",
    "xai": "xai-<A80>",
    "perplexity": "pplx-<A48>",
    "replicate": "r8_<A37>",
    "hugging face": "hf_<A34>",
    "nvidia": "nvapi-<B64>",
    "cerebras": "csk-<L48>",
    "tavily": "tvly-dev-<A32>",
    "langsmith": "lsv2_pt_<H32>_<H10>",
    "e2b": "e2b_<H40>",
    "cursor": "crsr_<H64>",
    "elevenlabs": "sk_<H48>",
    "firecrawl": "fc-<H32>",
    "pinecone": "pcsk_<A6>_<A63>",
    "jina": "jina_<H32><A28>",
    "aws id": "AKIA<U16>",
    "aws session id": "ASIA<U16>",
    "aws bedrock": "ABSK<S108>==",
    "google api": "AIza<B35>",
    "google oauth secret": "GOCSPX-<B28>",
    "google access": "ya29.<B120>",
    "alibaba": "LTAI5t<A18>",
    "tencent": "AKID<A32>",
    "digitalocean": "dop_v1_<H64>",
    "heroku": "HRKU-<B60>",
    "fly": "FlyV1 fm2_<S120>",
    "vercel": "vcp_<A56>",
    "netlify": "nfp_<A36>",
    "render": "rnd_<A32>",
    "scaleway": "SCW<U17>",
    "pulumi": "pul-<H40>",
    "terraform": "<A14>.atlasv1.<B67>",
    "vault": "hvs.<B90>",
    "doppler": "dp.pt.<A43>",
    "databricks": "dapi<H32>",
    "openshift": "sha256~<B43>",
    "tailscale": "tskey-auth-<A17>-<A32>",
    "age": "AGE-SECRET-KEY-1<U58>",
    "azure client secret": "<A3>8Q~<A34>",
    "supabase": "sbp_<H40>",
    "supabase secret": "sb_secret_<B31>",
    "planetscale": "pscale_tkn_<A43>",
    "neon": "napi_<L64>",
    "github": "ghp_<A36>",
    "github app": "ghs_<A36>",
    "github fine": "github_pat_<A22>_<A59>",
    "gitlab": "glpat-<B20>",
    "gitlab deploy": "gldt-<B20>",
    "bitbucket": "ATBB<A32>",
    "atlassian": "ATATT3xFfGF0<B160>=<U8>",
    "npm": "npm_<A36>",
    "pypi": "pypi-AgEIcHlwaS5vcmc<B160>",
    "rubygems": "rubygems_<H48>",
    "cargo": "cio<A32>",
    "docker": "dckr_pat_<B27>",
    "clojars": "CLOJARS_<L60>",
    "nuget": "oy2<L43>",
    "sourcegraph": "sgp_<H16>_<H40>",
    "circleci": "CCIPAT_<A22>_<H40>",
    "buildkite": "bkua_<H40>",
    "sonar": "squ_<H40>",
    "postman": "PMAK-<H24>-<H34>",
    "linear": "lin_api_<A40>",
    "stripe": "sk_live_<A99>",
    "stripe test": "sk_test_<A24>",
    "stripe restricted": "rk_live_<A24>",
    "stripe webhook": "whsec_<A32>",
    "square": "sq0atp-<B22>",
    "shopify": "shpat_<H32>",
    "plaid": "access-sandbox-<G>",
    "flutterwave": "FLWSECK-<H32>-X",
    "razorpay": "rzp_live_<A14>",
    "shippo": "shippo_live_<H40>",
    "easypost": "EZAK<A54>",
    "braintree": "access_token$production$<L16>$<H32>",
    "sendgrid": "SG.<B22>.<B43>",
    "mailgun": "key-<H32>",
    "mailchimp": "<H32>-us14",
    "brevo": "xkeysib-<H64>-<A16>",
    "resend": "re_<A8>_<A24>",
    "slack bot": "xoxb-<D12>-<D13>-<A24>",
    "slack user": "xoxp-<D12>-<D12>-<D13>-<H32>",
    "slack hook": "hooks.slack.com/services/T<U10>/B<U10>/<A24>",
    "discord bot": "M<A25>.<B6>.<B38>",
    "telegram": "<D10>:AA<B33>",
    "twilio": "SK<H32>",
    "new relic": "NRAK-<U27>",
    "grafana": "glsa_<A32>_<H8>",
    "sentry": "sntryu_<H64>",
    "dynatrace": "dt0c01.<U24>.<U64>",
    "posthog": "phx_<A43>",
    "launchdarkly": "sdk-<G>",
    "airtable": "pat<A14>.<H64>",
    "notion": "ntn_<A46>",
    "figma": "figd_<B40>",
    "hubspot": "pat-na1-<G>",
    "contentful": "CFPAT-<B43>",
    "readme": "rdme_<L70>",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI<A32>.<B43>",
}


def key(kind: str, chance: Random) -> str:
    """Return a new key of a kind."""
    return cast(MOULDS[kind], chance)


def cast(mould: str, chance: Random) -> str:
    """Fill a mould."""

    def part(found: re.Match[str]) -> str:
        if found[1] == "G":
            return str(UUID(int=chance.getrandbits(128)))
        letters = "".join(chance.choices(ALPHABETS[found[1]], k=int(found[2])))
        # No key ends in a sign here: where it stops would be anybody's guess in a sentence.
        return letters[:-1] + chance.choice(
            "abcdef0123456789".upper() if found[1] == "U" else "abcdef0123456789"
        )

    return re.sub(r"<([A-Z])([0-9]*)>", part, mould)


def block(chance: Random) -> str:
    """Return a private key's block, of nothing."""
    lines = ["".join(chance.choices(ALPHABETS["S"], k=64)) for _ in range(6)]
    edge = "-----{} RSA PRIVATE" + " KEY-----"
    return "\n".join([edge.format("BEGIN"), *lines, edge.format("END")])

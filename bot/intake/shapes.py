"""The keys that can be told by themselves: each provider's own shape, as its maker is known to write it.

A shape begins with a fixed word where there is one, so that a long text is looked through for that word
first (fast) and for the shape only there. The first of two that fit equally well names the key. Pure.
Neighbours: nearby.py (values without a shape), lines.py (wrapped ones), bot/keys.py (the door).
"""

import re
from typing import Final

from msgspec import Struct

A: Final = "[A-Za-z0-9]"
B: Final = "[A-Za-z0-9_-]"
H: Final = "[a-f0-9]"
UUID: Final = f"{H}{{8}}-{H}{{4}}-{H}{{4}}-{H}{{4}}-{H}{{12}}"

_BY_WORD: Final = (
    # agents and models
    ("ANTHROPIC_API_KEY", "sk-ant-", f"{B}{{20,}}"),
    ("OPENROUTER_API_KEY", "sk-or-v1-", f"{A}{{20,}}"),
    ("OPENAI_API_KEY", "sk-", f"(?={B}{{0,40}}[0-9])(?={B}*[A-Za-z]){B}{{20,}}"),
    ("GROQ_API_KEY", "gsk_", f"{A}{{40,64}}"),
    ("XAI_API_KEY", "xai-", f"{A}{{60,90}}"),
    ("PERPLEXITY_API_KEY", "pplx-", f"{A}{{40,64}}"),
    ("REPLICATE_API_TOKEN", "r8_", f"{A}{{37}}"),
    ("HF_TOKEN", "hf_", f"{A}{{30,40}}"),
    ("HF_TOKEN", "api_org_", f"{A}{{34}}"),
    ("FIREWORKS_API_KEY", "fw_", f"(?={A}*[0-9]){A}{{22,30}}(?!{B})"),
    ("NVIDIA_API_KEY", "nvapi-", f"{B}{{50,80}}"),
    ("CEREBRAS_API_KEY", "csk-", "[a-z0-9]{40,60}"),
    ("TAVILY_API_KEY", "tvly-", f"(?={B}*[0-9]){B}{{24,60}}"),
    ("LANGSMITH_API_KEY", "lsv2_", f"(?:pt|sk)_{H}{{32}}_{H}{{10}}"),
    ("E2B_API_KEY", "e2b_", f"{H}{{40}}"),
    ("CURSOR_API_KEY", "crsr_", f"{H}{{64}}"),
    ("ELEVENLABS_API_KEY", "sk_", f"{H}{{48}}"),
    ("FIRECRAWL_API_KEY", "fc-", f"{H}{{32}}"),
    ("PINECONE_API_KEY", "pcsk_", f"{A}{{5,7}}_{A}{{50,70}}"),
    ("JINA_API_KEY", "jina_", f"{H}{{32}}{B}{{28}}"),
    # clouds and what runs on them
    ("AWS_BEARER_TOKEN_BEDROCK", "ABSK", "[A-Za-z0-9+/]{90,}={0,2}"),
    ("AWS_ACCESS_KEY_ID", "AKIA", "[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("AWS_ACCESS_KEY_ID", "ASIA", "[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("GOOGLE_API_KEY", "AIza", f"{B}{{35}}"),
    ("GOOGLE_OAUTH_SECRET", "GOCSPX-", f"{B}{{20,40}}"),
    ("GOOGLE_OAUTH_SECRET", "ya29.", f"{B}{{20,}}"),
    ("GOOGLE_REFRESH_TOKEN", "1//0", f"{B}{{40,}}"),
    ("ALIBABA_ACCESS_KEY_ID", "LTAI", f"(?={A}*[0-9]){A}{{12,22}}(?!{B})"),
    ("TENCENT_SECRET_ID", "AKID", f"{A}{{32}}"),
    ("DIGITALOCEAN_TOKEN", "dop_v1_", f"{H}{{40,64}}"),
    ("DIGITALOCEAN_TOKEN", "doo_v1_", f"{H}{{40,64}}"),
    ("DIGITALOCEAN_TOKEN", "dor_v1_", f"{H}{{40,64}}"),
    ("HEROKU_API_KEY", "HRKU-", f"{B}{{30,70}}"),
    ("FLY_API_TOKEN", "FlyV1 fm", "[12][ar]?_[A-Za-z0-9+/=,_]{60,}"),
    ("FLY_API_TOKEN", "fo1_", f"{B}{{40,}}"),
    ("VERCEL_TOKEN", "vcp_", f"{A}{{24,60}}"),
    ("NETLIFY_AUTH_TOKEN", "nfp_", f"{A}{{36}}"),
    ("RENDER_API_KEY", "rnd_", f"(?={A}*[0-9]){A}{{28,40}}"),
    ("SCALEWAY_ACCESS_KEY", "SCW", "[A-Z0-9]{17}(?![A-Za-z0-9_])"),
    ("PULUMI_ACCESS_TOKEN", "pul-", f"{H}{{40}}"),
    ("VAULT_TOKEN", "hvs.", f"{B}{{24,}}"),
    ("VAULT_TOKEN", "hvb.", f"{B}{{100,}}"),
    (
        "DOPPLER_TOKEN",
        "dp.",
        r"(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    ("DATABRICKS_TOKEN", "dapi", f"{H}{{32}}(?:-[0-9])?"),
    ("K3S_TOKEN", "K10", f"{H}{{64}}::(?:[a-z][a-z0-9-]{{1,20}}:)?{A}[A-Za-z0-9._-]{{11,}}"),
    ("SWARM_TOKEN", "SWMTKN-1-", "[a-z0-9]{40,60}-[a-z0-9]{20,30}"),
    ("OPENSHIFT_TOKEN", "sha256~", f"{B}{{43}}"),
    ("TAILSCALE_AUTH_KEY", "tskey-", f"(?:[a-z]{{2,12}}-)?{A}{{8,24}}-{A}{{16,40}}"),
    ("CLOUDFLARE_ORIGIN_CA_KEY", "v1.0-", f"{H}{{24}}-{H}{{100,160}}"),
    ("NOSTR_KEY", "nsec1", "[a-z0-9]{58}(?![a-z0-9])"),
    ("WALLET_KEY", "xprv", "[1-9A-HJ-NP-Za-km-z]{100,112}"),
    ("AGE_SECRET_KEY", "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    ("ONEPASSWORD_TOKEN", "ops_eyJ", "[A-Za-z0-9+/_=-]{100,}"),
    # databases
    ("SUPABASE_ACCESS_TOKEN", "sbp_", f"{H}{{40}}"),
    ("SUPABASE_SECRET_KEY", "sb_secret_", f"{B}{{24,44}}"),
    ("PLANETSCALE_TOKEN", "pscale_", r"(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}"),
    ("NEON_API_KEY", "napi_", f"{A}{{50,70}}"),
    ("CLICKHOUSE_API_KEY", "4b1d", f"{A}{{38}}(?!{B})"),
    ("AIVEN_PASSWORD", "AVNS_", f"{B}{{16,24}}"),
    ("AZURE_STORAGE_KEY", "AccountKey=", "[A-Za-z0-9+/]{86}=="),
    # forges, registries, builds
    ("GITHUB_TOKEN", "ghp_", f"{A}{{30,40}}"),
    ("GITHUB_TOKEN", "gho_", f"{A}{{30,40}}"),
    ("GITHUB_TOKEN", "ghu_", f"{A}{{30,40}}"),
    ("GITHUB_TOKEN", "ghs_", f"{A}{{30,40}}"),
    ("GITHUB_TOKEN", "ghr_", f"{A}{{30,80}}"),
    ("GITHUB_TOKEN", "github_pat_", "[A-Za-z0-9_]{22,90}"),
    ("GITLAB_TOKEN", "glpat-", r"[A-Za-z0-9_-]{20,}(?:\.[a-z0-9]{2}\.[a-z0-9]{7,9})?"),
    ("GITLAB_TOKEN", "gl", f"(?:dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-{B}{{20,}}"),
    ("GITLAB_TOKEN", "GR1348941", f"{B}{{20}}"),
    ("BITBUCKET_APP_PASSWORD", "ATBB", f"{A}{{32}}(?!{A})"),
    ("ATLASSIAN_API_TOKEN", "ATATT3", "[A-Za-z0-9_=-]{100,220}"),
    ("BITBUCKET_TOKEN", "ATCTT3", "[A-Za-z0-9_=-]{100,240}"),
    ("NPM_TOKEN", "npm_", f"{A}{{36}}"),
    ("PYPI_TOKEN", "pypi-", f"{B}{{50,}}"),
    ("RUBYGEMS_API_KEY", "rubygems_", f"{H}{{48}}"),
    ("CARGO_REGISTRY_TOKEN", "cio", f"(?={A}*[0-9]){A}{{32}}(?!{B})"),
    ("DOCKER_TOKEN", "dckr_", f"(?:pat|oat)_{B}{{27,40}}"),
    ("CLOJARS_TOKEN", "CLOJARS_", "[a-z0-9]{60}"),
    ("NUGET_API_KEY", "oy2", "[a-z0-9]{43}(?![A-Za-z0-9_])"),
    ("SOURCEGRAPH_TOKEN", "sgp_", f"(?:{H}{{16}}_|local_)?{H}{{40}}"),
    ("ARTIFACTORY_API_KEY", "AKCp", f"{A}{{60,80}}"),
    ("CIRCLECI_TOKEN", "CCIPAT_", f"{A}{{20,24}}_{H}{{40}}"),
    ("BUILDKITE_TOKEN", "bkua_", f"{H}{{40}}"),
    ("SONAR_TOKEN", "sq", f"[pua]_{H}{{40}}"),
    ("SNYK_TOKEN", "snyk_", r"(?:uat|sat)\.[a-z0-9]{8}\.[A-Za-z0-9._-]{40,}"),
    ("POSTMAN_API_KEY", "PMAK-", f"{H}{{24}}-{H}{{34}}"),
    ("OCTOPUS_API_KEY", "API-", "(?=[A-Z]*[0-9])[A-Z0-9]{26,32}(?![A-Za-z0-9])"),
    ("LINEAR_API_KEY", "lin_", f"(?:api|oauth)_{A}{{40,64}}"),
    ("PREFECT_API_KEY", "pn", f"[ub]_{A}{{36}}(?!{A})"),
    # payment and shops
    ("STRIPE_API_KEY", "sk_", f"(?:live|test)_{A}{{16,120}}"),
    ("STRIPE_API_KEY", "rk_", f"(?:live|test)_{A}{{16,120}}"),
    ("STRIPE_WEBHOOK_SECRET", "whsec_", "[A-Za-z0-9+/]{16,}={0,2}"),
    ("SQUARE_ACCESS_TOKEN", "sq0", f"(?:atp|csp|idp)-{B}{{22,44}}"),
    ("SQUARE_ACCESS_TOKEN", "EAAA", f"{B}{{58,62}}(?!{B})"),
    ("BRAINTREE_TOKEN", "access_token$", rf"(?:production|sandbox)\$[a-z0-9]{{16}}\${H}{{32}}"),
    ("SHOPIFY_TOKEN", "shp", f"(?:at|ss|ca|pa|tka)_{H}{{32}}"),
    ("PLAID_TOKEN", "access-", f"(?:sandbox|development|production)-{UUID}"),
    ("FLUTTERWAVE_KEY", "FLWSECK", f"(?:_TEST)?-{A}{{12,34}}(?:-X)?"),
    ("RAZORPAY_KEY", "rzp_", f"(?:live|test)_{A}{{14}}"),
    (
        "MOLLIE_API_KEY",
        "live_",
        f"(?<!pk_live_)(?={B}{{0,12}}[0-9]|{B}{{0,6}}[A-Z]){B}{{30,44}}(?!{B})",
    ),
    ("PADDLE_API_KEY", "pdl_", f"(?:live|sdbx)_apikey_{A}{{26}}_{A}{{22}}_{A}{{3}}"),
    ("DUFFEL_TOKEN", "duffel_", f"(?:live|test)_{B}{{43}}"),
    ("EASYPOST_API_KEY", "EZ", f"[AT]K{A}{{54}}"),
    ("SHIPPO_TOKEN", "shippo_", f"(?:live|test)_{H}{{40}}"),
    # mail and chat
    ("SENDGRID_API_KEY", "SG.", rf"{B}{{16,32}}\.{B}{{16,64}}"),
    ("MAILGUN_API_KEY", "key-", f"{H}{{32}}(?![A-Za-z0-9])"),
    ("BREVO_API_KEY", "xkeysib-", f"{H}{{64}}-{A}{{16}}"),
    ("BREVO_SMTP_KEY", "xsmtpsib-", f"{H}{{64}}-{A}{{16}}"),
    ("RESEND_API_KEY", "re_", f"(?={B}*[0-9]){A}{{8}}_{A}{{20,26}}(?!{B})"),
    ("MANDRILL_API_KEY", "md-", f"(?={B}*[0-9])(?={B}*[A-Z]){B}{{22}}(?!{B})"),
    ("MAILERSEND_API_KEY", "mlsn.", f"{H}{{64}}"),
    ("SLACK_TOKEN", "xox", f"[abeoprs](?:\\.xox[bp])?-{B}{{10,}}"),
    ("SLACK_TOKEN", "xapp-", "[A-Za-z0-9-]{10,}"),
    ("SLACK_WEBHOOK", "hooks.slack.com/", r"(?:services|workflows|triggers)/[A-Za-z0-9/]{20,}"),
    ("DISCORD_WEBHOOK", "discord.com/api/webhooks/", f"[0-9]{{17,20}}/{B}{{60,}}"),
    (
        "TEAMS_WEBHOOK",
        "webhook.office.com/",
        f"webhookb2/{UUID}@{UUID}/IncomingWebhook/{H}{{32}}/{UUID}",
    ),
    ("TWILIO_API_KEY", "SK", f"{H}{{32}}(?![A-Za-z0-9])"),
    # watching, flags, offices
    ("NEW_RELIC_API_KEY", "NR", "(?:AK|AA|RA)-[A-Z0-9]{27}|II-[A-Za-z0-9_-]{32}"),
    ("GRAFANA_TOKEN", "glsa_", f"{A}{{32}}_[A-Fa-f0-9]{{8}}"),
    ("GRAFANA_TOKEN", "glc_", "[A-Za-z0-9+/]{32,}={0,2}"),
    ("SENTRY_AUTH_TOKEN", "sntrys_", "[A-Za-z0-9+/=_-]{60,}"),
    ("SENTRY_AUTH_TOKEN", "sntryu_", f"{H}{{64}}"),
    ("DYNATRACE_TOKEN", "dt0", r"[cs][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("HONEYCOMB_API_KEY", "hcaik_", "[a-z0-9]{58}"),
    ("POSTHOG_API_KEY", "phx_", f"{A}{{40,50}}"),
    ("LAUNCHDARKLY_KEY", "sdk-", UUID),
    ("LAUNCHDARKLY_KEY", "api-", UUID),
    ("AIRTABLE_TOKEN", "pat", rf"{A}{{14}}\.{H}{{64}}"),
    ("NOTION_TOKEN", "ntn_", f"{A}{{40,50}}"),
    ("NOTION_TOKEN", "secret_", f"{A}{{43}}(?!{A})"),
    ("FIGMA_TOKEN", "figd_", f"{B}{{38,60}}"),
    ("TYPEFORM_TOKEN", "tfp_", "[A-Za-z0-9_.=-]{44,60}"),
    ("CONTENTFUL_TOKEN", "CFPAT-", f"{B}{{43}}"),
    ("MAPBOX_SECRET_TOKEN", "sk.eyJ", rf"{B}{{20,}}\.{B}{{20,}}"),
    ("HUBSPOT_TOKEN", "pat-", f"(?:na|eu|ap)[0-9]-{UUID}"),
    ("DROPBOX_TOKEN", "sl.", f"(?:u\\.)?{B}{{120,}}"),
    ("FACEBOOK_TOKEN", "EAA", "[A-Za-z0-9]{90,}"),
    ("TRELLO_TOKEN", "ATTA", "[a-f0-9]{64}[A-Fa-f0-9]{8}"),
    ("UNKEY_ROOT_KEY", "unkey_", f"(?={A}*[0-9]){A}{{20,30}}(?!{B})"),
    ("README_API_KEY", "rdme_", "[a-z0-9]{70}"),
    ("FRAMEIO_TOKEN", "fio-u-", "[A-Za-z0-9_=-]{64}"),
    ("ADOBE_CLIENT_SECRET", "p8e-", f"{A}{{32}}"),
    ("YANDEX_TOKEN", "AQVN", f"{B}{{35,38}}(?!{B})"),
    ("YANDEX_TOKEN", "y0_", f"{B}{{50,}}"),
    (
        "TWITTER_BEARER_TOKEN",
        "AAAAAAAAAAAAAAAAAAAAA",
        "(?=[A-Za-z0-9]{0,80}%[23][0-9A-F])[A-Za-z0-9%]{60,}",
    ),
    ("TELNYX_API_KEY", "KEY0", f"[A-F0-9]{{30,34}}_{B}{{20,24}}"),
    ("INFRACOST_API_KEY", "ico-", f"{A}{{32}}"),
    ("JWT", "eyJ", rf"{B}{{8,}}\.eyJ{B}{{8,}}\.{B}{{16,}}"),
)

# No fixed word to look for, and yet of a shape that nothing else has.
_BY_FORM: Final = (
    ("TELEGRAM_BOT_TOKEN", f"[0-9]{{6,12}}:{B}{{35}}(?!{B})"),
    ("DISCORD_BOT_TOKEN", rf"[MNO][A-Za-z0-9]{{22,27}}\.{B}{{6}}\.{B}{{27,40}}(?!{B})"),
    ("AZURE_CLIENT_SECRET", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    ("TERRAFORM_TOKEN", rf"{A}{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,70}}"),
    ("ASANA_TOKEN", f"[0-9]/[0-9]{{12,20}}(?:/[0-9]{{12,20}})?:{H}{{32}}(?![A-Za-z0-9])"),
    ("MAILCHIMP_API_KEY", f"{H}{{32}}-us[0-9]{{1,2}}(?![A-Za-z0-9])"),
    ("MATRIX_TOKEN", f"syt_[A-Za-z0-9_=-]{{4,60}}_{A}{{20}}_{A}{{6}}(?!{A})"),
)
_BEFORE: Final = "(?<![A-Za-z0-9])"


class Shape(Struct, frozen=True):
    """One provider's key. `word`: what each begins with, "" for none."""

    name: str
    word: str
    form: re.Pattern[str]


SHAPES: Final = (
    *(Shape(n, w, re.compile(_BEFORE + re.escape(w) + f"(?:{rest})")) for n, w, rest in _BY_WORD),
    *(Shape(name, "", re.compile(_BEFORE + form)) for name, form in _BY_FORM),
)
KINDS: Final = frozenset(shape.name for shape in SHAPES)
# What makers write in a key's place where they show how theirs look.
_STAND_IN: Final = re.compile(r"EXAMPLE(?:KEY)?\Z|[xX]{8,}|0{10,}|(?i:[_-]your[_-])")


def stands_in(value: str) -> bool:
    """Return whether this only shows what a key looks like: `AKIA…EXAMPLE`, `sk_live_xxxxxxxx`."""
    return "PRIVATE KEY" not in value and _STAND_IN.search(value) is not None

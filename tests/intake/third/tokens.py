"""Kinds that are one word, by what their makers publish of them; and passwords, which have no form.

A kind is: its name, the variable it is kept in, whose it is, and how one is made (draw.py).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import NamedTuple

from tests.intake.third.draw import ALNUM, BASE32, DIGITS, LOWER, UPPER, Maker

Made = Callable[[Maker], str]


class Token(NamedTuple):
    """One kind."""

    kind: str
    env: str
    whose: str
    made: Made


def _json(**fields: object) -> str:
    return base64.b64encode(json.dumps(fields).encode()).decode()


def _sentry(m: Maker) -> str:
    about = _json(iat=1.7e9, url="https://sentry.io", org="shop")
    return f"sntrys_{about}_{m.b64(32).rstrip('=')}"


def _grafana_cloud(m: Maker) -> str:
    return "glc_" + _json(o=m.of(DIGITS, 6), n="stack-push", k=m.alnum(24), m={"r": "eu"})


def _onepassword(m: Maker) -> str:
    about = _json(
        signInAddress="shop.1password.com",
        email=m.alnum(13) + "@1passwordserviceaccounts.com",
        secretKey=f"A3-{m.of(UPPER + DIGITS, 6)}-{m.of(UPPER + DIGITS, 20)}",
        srpX=m.hex(64),
    )
    return "ops_" + about.rstrip("=")


def _secret_key(m: Maker) -> str:
    parts = [m.of(UPPER + DIGITS, width) for width in (6, 6, 5, 5, 5, 5)]
    return "-".join(["A3", *parts])


def _mapbox(m: Maker) -> str:
    about = {"u": "shop", "a": "cl" + m.of(LOWER + DIGITS, 23)}
    return f"sk.{m.b64url(json.dumps(about, separators=(',', ':')).encode())}.{m.urlsafe(22)}"


def _discord(m: Maker) -> str:
    user = base64.b64encode(("1" + m.of(DIGITS, 18)).encode()).decode().rstrip("=")
    return f"{user}.G{m.alnum(5)}.{m.urlsafe(38)}"


def _checked(m: Maker, body: str, between: str, upper: bool = False) -> str:
    """Return a text with its CRC behind it."""
    return body + between + m.crc_hex(body, upper)


ALL = (
    Token("github classic", "GITHUB_TOKEN", "GitHub", lambda m: m.crc62("ghp_")),
    Token("github oauth", "GH_OAUTH", "GitHub", lambda m: m.crc62("gho_")),
    Token("github app user", "GH_USER_TOKEN", "GitHub", lambda m: m.crc62("ghu_")),
    Token("github server", "GH_APP_TOKEN", "GitHub App", lambda m: m.crc62("ghs_")),
    Token("github refresh", "GH_REFRESH", "GitHub", lambda m: m.crc62("ghr_", 70)),
    Token(
        "github fine grained",
        "GITHUB_PAT",
        "GitHub",
        lambda m: f"github_pat_{m.alnum(22)}_{m.alnum(59)}",
    ),
    Token("gitlab pat", "GITLAB_TOKEN", "GitLab", lambda m: "glpat-" + m.urlsafe(20)),
    Token(
        "gitlab pat routable",
        "GITLAB_TOKEN",
        "GitLab",
        lambda m: f"glpat-{m.urlsafe(27)}.01.{m.of(LOWER + DIGITS, 9)}",
    ),
    Token("gitlab deploy token", "CI_DEPLOY_PASSWORD", "GitLab", lambda m: "gldt-" + m.urlsafe(20)),
    Token("gitlab runner", "RUNNER_TOKEN", "GitLab Runner", lambda m: "glrt-" + m.urlsafe(20)),
    Token("gitlab trigger", "TRIGGER_TOKEN", "GitLab", lambda m: "glptt-" + m.hex(40)),
    Token("google api key", "GOOGLE_MAPS_KEY", "Google Maps", lambda m: "AIza" + m.urlsafe(35)),
    Token(
        "google oauth client", "GOOGLE_CLIENT_SECRET", "Google", lambda m: "GOCSPX-" + m.urlsafe(28)
    ),
    Token(
        "google access token",
        "GCP_ACCESS_TOKEN",
        "Google Cloud",
        lambda m: "ya29.a0" + m.urlsafe(160),
    ),
    Token(
        "google refresh token", "GOOGLE_REFRESH_TOKEN", "Gmail", lambda m: "1//0" + m.urlsafe(96)
    ),
    Token(
        "aws session token", "AWS_SESSION_TOKEN", "AWS", lambda m: "IQoJb3JpZ2luX2Vj" + m.b64(330)
    ),
    Token(
        "azure client secret",
        "AZURE_CLIENT_SECRET",
        "Azure",
        lambda m: f"{m.alnum(3)}8Q~{m.of(ALNUM + '-_.~', 33)}{m.alnum(1)}",
    ),
    Token(
        "azure devops pat", "AZDO_PAT", "Azure DevOps", lambda m: m.alnum(76) + "AZDO" + m.alnum(4)
    ),
    Token(
        "slack bot",
        "SLACK_BOT_TOKEN",
        "Slack",
        lambda m: f"xoxb-{m.of(DIGITS, 12)}-{m.of(DIGITS, 13)}-{m.alnum(24)}",
    ),
    Token(
        "slack user",
        "SLACK_USER_TOKEN",
        "Slack",
        lambda m: f"xoxp-{m.of(DIGITS, 12)}-{m.of(DIGITS, 12)}-{m.of(DIGITS, 13)}-{m.hex(32)}",
    ),
    Token(
        "slack app level",
        "SLACK_APP_TOKEN",
        "Slack",
        lambda m: f"xapp-1-A0{m.of(UPPER + DIGITS, 9)}-{m.of(DIGITS, 13)}-{m.hex(64)}",
    ),
    Token(
        "slack webhook",
        "SLACK_WEBHOOK_URL",
        "Slack",
        lambda m: (
            f"https://hooks.slack.com/services/T0{m.of(UPPER + DIGITS, 9)}/B0{m.of(UPPER + DIGITS, 9)}/{m.alnum(24)}"
        ),
    ),
    Token("discord bot", "DISCORD_TOKEN", "Discord", _discord),
    Token(
        "discord webhook",
        "DISCORD_WEBHOOK",
        "Discord",
        lambda m: f"https://discord.com/api/webhooks/1{m.of(DIGITS, 18)}/{m.urlsafe(68)}",
    ),
    Token(
        "telegram bot",
        "TELEGRAM_BOT_TOKEN",
        "Telegram",
        lambda m: (
            f"{m.luck.randrange(5_000_000_000, 7_999_999_999)}:AA{m.luck.choice('EFGH')}{m.urlsafe(32)}"
        ),
    ),
    Token("stripe secret", "STRIPE_SECRET_KEY", "Stripe", lambda m: "sk_live_51" + m.alnum(97)),
    Token(
        "stripe restricted", "STRIPE_RESTRICTED_KEY", "Stripe", lambda m: "rk_live_51" + m.alnum(97)
    ),
    Token("stripe test", "STRIPE_SECRET_KEY", "Stripe", lambda m: "sk_test_51" + m.alnum(97)),
    Token("stripe webhook", "STRIPE_WEBHOOK_SECRET", "Stripe", lambda m: "whsec_" + m.alnum(32)),
    Token(
        "openai project",
        "OPENAI_API_KEY",
        "OpenAI",
        lambda m: f"sk-proj-{m.urlsafe(74)}T3BlbkFJ{m.urlsafe(74)}",
    ),
    Token(
        "openai classic",
        "OPENAI_API_KEY",
        "OpenAI",
        lambda m: f"sk-{m.alnum(20)}T3BlbkFJ{m.alnum(20)}",
    ),
    Token(
        "openai service account",
        "OPENAI_API_KEY",
        "OpenAI",
        lambda m: f"sk-svcacct-{m.urlsafe(74)}T3BlbkFJ{m.urlsafe(74)}",
    ),
    Token(
        "anthropic", "ANTHROPIC_API_KEY", "Anthropic", lambda m: f"sk-ant-api03-{m.urlsafe(93)}AA"
    ),
    Token("openrouter", "OPENROUTER_API_KEY", "OpenRouter", lambda m: "sk-or-v1-" + m.hex(64)),
    Token("deepseek", "DEEPSEEK_API_KEY", "DeepSeek", lambda m: "sk-" + m.hex(32)),
    Token("hugging face", "HF_TOKEN", "Hugging Face", lambda m: "hf_" + m.of(LOWER + UPPER, 34)),
    Token("replicate", "REPLICATE_API_TOKEN", "Replicate", lambda m: "r8_" + m.alnum(37)),
    Token("groq", "GROQ_API_KEY", "Groq", lambda m: "gsk_" + m.alnum(52)),
    Token("perplexity", "PERPLEXITY_API_KEY", "Perplexity", lambda m: "pplx-" + m.alnum(48)),
    Token("xai", "XAI_API_KEY", "xAI", lambda m: "xai-" + m.alnum(80)),
    Token("fal", "FAL_KEY", "fal", lambda m: f"{m.uuid()}:{m.hex(32)}"),
    Token("elevenlabs", "ELEVENLABS_API_KEY", "ElevenLabs", lambda m: "sk_" + m.hex(48)),
    Token("npm", "NPM_TOKEN", "npm", lambda m: m.crc62("npm_")),
    Token("pypi", "TWINE_PASSWORD", "PyPI", lambda m: "pypi-AgEIcHlwaS5vcmc" + m.urlsafe(150)),
    Token("rubygems", "GEM_HOST_API_KEY", "RubyGems", lambda m: "rubygems_" + m.hex(48)),
    Token("crates.io", "CARGO_REGISTRY_TOKEN", "crates.io", lambda m: "cio" + m.alnum(32)),
    Token("docker hub", "DOCKERHUB_TOKEN", "Docker Hub", lambda m: "dckr_pat_" + m.urlsafe(27)),
    Token("digitalocean", "DIGITALOCEAN_TOKEN", "DigitalOcean", lambda m: "dop_v1_" + m.hex(64)),
    Token("heroku", "HEROKU_API_KEY", "Heroku", lambda m: "HRKU-AA" + m.urlsafe(58)),
    Token(
        "cloudflare origin ca",
        "CF_ORIGIN_CA_KEY",
        "Cloudflare",
        lambda m: f"v1.0-{m.hex(24)}-{m.hex(146)}",
    ),
    Token(
        "sendgrid", "SENDGRID_API_KEY", "SendGrid", lambda m: f"SG.{m.urlsafe(22)}.{m.urlsafe(43)}"
    ),
    Token("mailgun", "MAILGUN_API_KEY", "Mailgun", lambda m: f"{m.hex(32)}-{m.hex(8)}-{m.hex(8)}"),
    Token(
        "mailchimp",
        "MAILCHIMP_API_KEY",
        "Mailchimp",
        lambda m: f"{m.hex(32)}-us{m.luck.randrange(1, 22)}",
    ),
    Token("brevo", "BREVO_API_KEY", "Brevo", lambda m: f"xkeysib-{m.hex(64)}-{m.alnum(16)}"),
    Token("resend", "RESEND_API_KEY", "Resend", lambda m: f"re_{m.alnum(8)}_{m.alnum(24)}"),
    Token("twilio api key pair", "TWILIO_API_KEY", "Twilio", lambda m: "SK" + m.hex(32)),
    Token("shopify admin", "SHOPIFY_ADMIN_TOKEN", "Shopify", lambda m: "shpat_" + m.hex(32)),
    Token("shopify shared", "SHOPIFY_API_SECRET", "Shopify", lambda m: "shpss_" + m.hex(32)),
    Token("square", "SQUARE_ACCESS_TOKEN", "Square", lambda m: "EAAA" + m.urlsafe(60)),
    Token(
        "braintree",
        "BRAINTREE_TOKEN",
        "Braintree",
        lambda m: f"access_token$production${m.of(LOWER + DIGITS, 16)}${m.hex(32)}",
    ),
    Token(
        "new relic", "NEW_RELIC_USER_KEY", "New Relic", lambda m: "NRAK-" + m.of(UPPER + DIGITS, 27)
    ),
    Token("sentry user", "SENTRY_AUTH_TOKEN", "Sentry", lambda m: "sntryu_" + m.hex(64)),
    Token("sentry org", "SENTRY_AUTH_TOKEN", "Sentry", _sentry),
    Token(
        "grafana service account",
        "GRAFANA_TOKEN",
        "Grafana",
        lambda m: _checked(m, "glsa_" + m.alnum(32), "_"),
    ),
    Token("grafana cloud", "GRAFANA_CLOUD_TOKEN", "Grafana Cloud", _grafana_cloud),
    Token(
        "dynatrace",
        "DT_API_TOKEN",
        "Dynatrace",
        lambda m: f"dt0c01.{m.of(BASE32, 24)}.{m.of(BASE32, 64)}",
    ),
    Token("vault service", "VAULT_TOKEN", "Vault", lambda m: "hvs." + m.urlsafe(95)),
    Token("vault batch", "VAULT_TOKEN", "Vault", lambda m: "hvb.AAAAAQ" + m.urlsafe(140)),
    Token(
        "terraform cloud",
        "TFE_TOKEN",
        "Terraform Cloud",
        lambda m: f"{m.alnum(14)}.atlasv1.{m.urlsafe(67)}",
    ),
    Token("pulumi", "PULUMI_ACCESS_TOKEN", "Pulumi", lambda m: "pul-" + m.hex(40)),
    Token("doppler", "DOPPLER_TOKEN", "Doppler", lambda m: "dp.pt." + m.alnum(43)),
    Token("doppler service", "DOPPLER_TOKEN", "Doppler", lambda m: f"dp.st.prd.{m.alnum(43)}"),
    Token("1password service account", "OP_SERVICE_ACCOUNT_TOKEN", "1Password", _onepassword),
    Token("1password secret key", "OP_SECRET_KEY", "1Password", _secret_key),
    Token(
        "atlassian",
        "JIRA_API_TOKEN",
        "Jira",
        lambda m: _checked(m, "ATATT3xFfGF0" + m.urlsafe(171), "=", True),
    ),
    Token(
        "bitbucket app password",
        "BITBUCKET_APP_PASSWORD",
        "Bitbucket",
        lambda m: _checked(m, "ATBB" + m.alnum(24), "", True),
    ),
    Token("linear", "LINEAR_API_KEY", "Linear", lambda m: "lin_api_" + m.alnum(40)),
    Token("notion", "NOTION_TOKEN", "Notion", lambda m: f"ntn_{m.of(DIGITS, 11)}{m.alnum(35)}"),
    Token("notion old", "NOTION_TOKEN", "Notion", lambda m: "secret_" + m.alnum(43)),
    Token("figma", "FIGMA_TOKEN", "Figma", lambda m: "figd_" + m.urlsafe(40)),
    Token("airtable", "AIRTABLE_API_KEY", "Airtable", lambda m: f"pat{m.alnum(14)}.{m.hex(64)}"),
    Token(
        "asana",
        "ASANA_TOKEN",
        "Asana",
        lambda m: f"2/{m.of(DIGITS, 16)}/{m.of(DIGITS, 16)}:{m.hex(32)}",
    ),
    Token("supabase personal", "SUPABASE_ACCESS_TOKEN", "Supabase", lambda m: "sbp_" + m.hex(40)),
    Token(
        "supabase secret",
        "SUPABASE_SECRET_KEY",
        "Supabase",
        lambda m: f"sb_secret_{m.urlsafe(22)}_{m.alnum(8)}",
    ),
    Token(
        "planetscale token",
        "PLANETSCALE_TOKEN",
        "PlanetScale",
        lambda m: "pscale_tkn_" + m.urlsafe(43),
    ),
    Token(
        "planetscale password",
        "DATABASE_PASSWORD",
        "PlanetScale",
        lambda m: "pscale_pw_" + m.urlsafe(43),
    ),
    Token(
        "tailscale auth",
        "TS_AUTHKEY",
        "Tailscale",
        lambda m: f"tskey-auth-k{m.alnum(11)}CNTRL-{m.alnum(32)}",
    ),
    Token("ngrok", "NGROK_AUTHTOKEN", "ngrok", lambda m: f"2{m.alnum(26)}_{m.alnum(21)}"),
    Token("netlify", "NETLIFY_AUTH_TOKEN", "Netlify", lambda m: "nfp_" + m.alnum(36)),
    Token("fly.io", "FLY_API_TOKEN", "Fly.io", lambda m: "FlyV1 fm2_lJPE" + m.b64(180)),
    Token("render", "RENDER_API_KEY", "Render", lambda m: "rnd_" + m.alnum(28)),
    Token("circleci", "CIRCLECI_TOKEN", "CircleCI", lambda m: f"CCIPAT_{m.alnum(22)}_{m.hex(40)}"),
    Token("buildkite", "BUILDKITE_API_TOKEN", "Buildkite", lambda m: "bkua_" + m.hex(40)),
    Token("sonarqube", "SONAR_TOKEN", "SonarQube", lambda m: "squ_" + m.hex(40)),
    Token("databricks", "DATABRICKS_TOKEN", "Databricks", lambda m: "dapi" + m.hex(32)),
    Token("mapbox secret", "MAPBOX_SECRET_TOKEN", "Mapbox", _mapbox),
    Token("facebook", "FB_PAGE_TOKEN", "Facebook", lambda m: "EAAG" + m.alnum(180)),
    Token(
        "twitter bearer",
        "TWITTER_BEARER_TOKEN",
        "X",
        lambda m: "AAAAAAAAAAAAAAAAAAAAA" + m.alnum(30) + "%3D" + m.alnum(50),
    ),
    Token("posthog personal", "POSTHOG_API_KEY", "PostHog", lambda m: "phx_" + m.alnum(43)),
    Token("launchdarkly", "LD_SDK_KEY", "LaunchDarkly", lambda m: "sdk-" + m.uuid()),
    Token(
        "fcm server",
        "FCM_SERVER_KEY",
        "Firebase",
        lambda m: f"AAAA{m.urlsafe(7)}:APA91b{m.urlsafe(134)}",
    ),
    Token("matrix", "MATRIX_ACCESS_TOKEN", "Matrix", lambda m: m.matrix()),
    Token("jwt", "ACCESS_TOKEN", "our API", lambda m: m.jwt(role="admin")),
    Token(
        "supabase service role",
        "SUPABASE_SERVICE_ROLE_KEY",
        "Supabase",
        lambda m: m.jwt(iss="supabase", role="service_role"),
    ),
    Token("age", "SOPS_AGE_KEY", "sops", lambda m: m.bech32("age-secret-key-", 32).upper()),
    Token("nostr", "NOSTR_KEY", "nostr", lambda m: m.bech32("nsec", 32)),
    Token("bitcoin wif", "WALLET_WIF", "wallet", lambda m: m.wif()),
    Token("k3s join", "K3S_TOKEN", "k3s", lambda m: f"K10{m.hex(64)}::server:{m.hex(32)}"),
    Token("prefect", "PREFECT_API_KEY", "Prefect", lambda m: "pnu_" + m.alnum(36)),
    Token(
        "contentful",
        "CONTENTFUL_MANAGEMENT_TOKEN",
        "Contentful",
        lambda m: "CFPAT-" + m.urlsafe(43),
    ),
    Token("typeform", "TYPEFORM_TOKEN", "Typeform", lambda m: f"tfp_{m.alnum(44)}_{m.alnum(14)}"),
    Token("postman", "POSTMAN_API_KEY", "Postman", lambda m: f"PMAK-{m.hex(24)}-{m.hex(34)}"),
    Token("artifactory", "JFROG_API_KEY", "Artifactory", lambda m: "AKCp" + m.alnum(69)),
    Token("flutterwave", "FLW_SECRET_KEY", "Flutterwave", lambda m: f"FLWSECK-{m.hex(32)}-X"),
    Token("razorpay webhook", "RAZORPAY_KEY_SECRET", "Razorpay", lambda m: m.alnum(24)),
    Token("lob", "LOB_API_KEY", "Lob", lambda m: "live_" + m.hex(35)),
    Token("shippo", "SHIPPO_TOKEN", "Shippo", lambda m: "shippo_live_" + m.hex(40)),
    Token("easypost", "EASYPOST_API_KEY", "EasyPost", lambda m: "EZAK" + m.hex(54)),
    Token("duffel", "DUFFEL_TOKEN", "Duffel", lambda m: "duffel_live_" + m.urlsafe(43)),
    Token(
        "langsmith", "LANGCHAIN_API_KEY", "LangSmith", lambda m: f"lsv2_pt_{m.hex(32)}_{m.hex(10)}"
    ),
    Token("langfuse", "LANGFUSE_SECRET_KEY", "Langfuse", lambda m: "sk-lf-" + m.uuid()),
    Token("tavily", "TAVILY_API_KEY", "Tavily", lambda m: "tvly-" + m.alnum(32)),
    Token("pinecone", "PINECONE_API_KEY", "Pinecone", lambda m: f"pcsk_{m.alnum(6)}_{m.alnum(63)}"),
    Token("infracost", "INFRACOST_API_KEY", "Infracost", lambda m: "ico-" + m.alnum(32)),
    Token("scaleway", "SCW_SECRET_KEY", "Scaleway", lambda m: m.uuid()),
    Token("hetzner", "HCLOUD_TOKEN", "Hetzner Cloud", lambda m: m.alnum(64)),
    Token("cloudflare token", "CLOUDFLARE_API_TOKEN", "Cloudflare", lambda m: m.urlsafe(40)),
    Token("gitea", "GITEA_TOKEN", "Gitea", lambda m: m.hex(40)),
    Token("jenkins", "JENKINS_API_TOKEN", "Jenkins", lambda m: "11" + m.hex(32)),
    Token("vercel", "VERCEL_TOKEN", "Vercel", lambda m: m.alnum(24)),
    Token("datadog", "DD_API_KEY", "Datadog", lambda m: m.hex(32)),
    Token("algolia admin", "ALGOLIA_ADMIN_KEY", "Algolia", lambda m: m.hex(32)),
    Token("twilio auth", "TWILIO_AUTH_TOKEN", "Twilio", lambda m: m.hex(32)),
    Token("spotify", "SPOTIFY_CLIENT_SECRET", "Spotify", lambda m: m.hex(32)),
    Token("auth0", "AUTH0_CLIENT_SECRET", "Auth0", lambda m: m.urlsafe(64)),
    Token("postmark", "POSTMARK_SERVER_TOKEN", "Postmark", lambda m: m.uuid()),
    Token("plaid", "PLAID_SECRET", "Plaid", lambda m: m.hex(30)),
    Token("openweather", "OPENWEATHER_API_KEY", "OpenWeather", lambda m: m.hex(32)),
    Token("mistral", "MISTRAL_API_KEY", "Mistral", lambda m: m.alnum(32)),
    Token("jwt secret", "JWT_SECRET", "session signing", lambda m: m.hex(64)),
    Token("rails master key", "RAILS_MASTER_KEY", "Rails", lambda m: m.hex(32)),
    Token("laravel app key", "APP_KEY", "Laravel", lambda m: "base64:" + m.b64(32)),
    Token(
        "django secret key",
        "DJANGO_SECRET_KEY",
        "Django",
        lambda m: "django-insecure-" + m.of(LOWER + DIGITS + "!@#$%^&*(-_=+)", 49) + "x",
    ),
    Token(
        "ethereum private key",
        "DEPLOYER_PRIVATE_KEY",
        "deployer wallet",
        lambda m: "0x" + m.hex(64),
    ),
    Token("okta", "OKTA_API_TOKEN", "Okta", lambda m: "00" + m.urlsafe(40)),
    Token("home assistant", "HASS_TOKEN", "Home Assistant", lambda m: m.jwt(iss=m.hex(32))),
)
# Never sent anywhere as a token is: they stand in settings and code alone.
KEPT = {
    "age",
    "nostr",
    "bitcoin wif",
    "k3s join",
    "jwt secret",
    "rails master key",
    "laravel app key",
}
KEPT |= {"django secret key", "ethereum private key", "1password secret key"}


class Password(NamedTuple):
    """A kind that only the words around tell; of its forms the first and the last are named."""

    token: Token
    form: str
    first: int = 0
    last: int = 99


PASSWORDS = (
    Password(Token("password of a person", "ADMIN_PASSWORD", "the NAS", Maker.home_made), "said"),
    Password(
        Token("password of a person, elsewhere", "WP_PASSWORD", "WordPress", Maker.home_made),
        "said",
    ),
    Password(
        Token("password of a manager", "POSTGRES_PASSWORD", "Grafana", Maker.password), "said"
    ),
    Password(Token("password in settings", "DB_PASSWORD", "the database", Maker.home_made), "set"),
    Password(
        Token("password in settings, a manager's", "SMTP_PASSWORD", "mail", Maker.password), "set"
    ),
    Password(
        Token("password in a command", "MYSQL_ROOT_PASSWORD", "mysql", Maker.password), "set", 7, 20
    ),
    Password(
        Token("password for a wlan", "WIFI_PASSWORD", "the WLAN", Maker.home_made), "said", 0, 11
    ),
)

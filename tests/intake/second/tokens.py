"""Secrets that are one word: what a vendor issues, or a password with its name beside it.

A line is: the brand, what its makers call it, the variable it is kept in, its pattern (draw.py).
OWN_SHAPE are known by themselves; NAMED are known by what stands beside them alone.
"""

from random import Random
from typing import NamedTuple

from tests.intake.second import draw


class Token(NamedTuple):
    """One kind."""

    brand: str
    what: str
    env: str
    pattern: str
    own_shape: bool = True

    @property
    def name(self) -> str:
        return f"{self.brand} {self.what}"

    def value(self, rng: Random) -> str:
        return draw.fill(rng, self.pattern)


_OWN = """
AWS|access key|AWS_ACCESS_KEY_ID|AKIA{T16}
Google|API key|GOOGLE_API_KEY|AIzaSy{b33}
Google OAuth|client secret|GOOGLE_CLIENT_SECRET|GOCSPX-{b28}
Google|refresh token|GOOGLE_REFRESH_TOKEN|1//0{b99}
Google|access token|GOOGLE_ACCESS_TOKEN|ya29.a0{b170}
Azure AD|client secret|AZURE_CLIENT_SECRET|{A3}8Q~{b34}
DigitalOcean|token|DIGITALOCEAN_TOKEN|dop_v1_{h64}
Fly.io|token|FLY_API_TOKEN|FlyV1 fm2_{B180}
Netlify|token|NETLIFY_AUTH_TOKEN|nfp_{A36}
Render|API key|RENDER_API_KEY|rnd_{A28}
Supabase|access token|SUPABASE_ACCESS_TOKEN|sbp_{h40}
Supabase|secret key|SUPABASE_SECRET_KEY|sb_secret_{b22}_{b8}
PlanetScale|service token|PLANETSCALE_TOKEN|pscale_tkn_{b43}
PlanetScale|password|DATABASE_PASSWORD|pscale_pw_{b43}
Neon|API key|NEON_API_KEY|napi_{a64}
Doppler|personal token|DOPPLER_TOKEN|dp.pt.{A43}
Doppler|service token|DOPPLER_TOKEN|dp.st.prd.{A43}
HashiCorp Vault|token|VAULT_TOKEN|hvs.{b95}
HashiCorp Vault|batch token|VAULT_TOKEN|hvb.{b140}
Terraform Cloud|token|TFE_TOKEN|{A14}.atlasv1.{b64}
Pulumi|access token|PULUMI_ACCESS_TOKEN|pul-{h40}
Databricks|token|DATABRICKS_TOKEN|dapi{h32}-2
Alibaba Cloud|access key|ALIYUN_ACCESS_KEY|LTAI5t{A18}
Tailscale|auth key|TS_AUTHKEY|tskey-auth-{A16}-{A32}
Cloudflare|origin CA key|CF_ORIGIN_CA_KEY|v1.0-{h24}-{h146}
Heroku|API key|HEROKU_API_KEY|HRKU-AA{b58}
Aiven|token|AIVEN_TOKEN|AVNS_{b19}
GitHub|personal access token|GITHUB_TOKEN|ghp_{A36}
GitHub|fine-grained token|GH_TOKEN|github_pat_{A22}_{A59}
GitHub|OAuth token|GH_TOKEN|gho_{A36}
GitHub|app token|GITHUB_APP_TOKEN|ghs_{A36}
GitHub|refresh token|GITHUB_REFRESH|ghr_{A76}
GitLab|personal access token|GITLAB_TOKEN|glpat-{b20}
GitLab|routable token|GITLAB_TOKEN|glpat-{b27}.01.{h9}
GitLab|runner token|CI_RUNNER_TOKEN|glrt-{b20}
GitLab|deploy token|CI_DEPLOY_TOKEN|gldt-{b20}
GitLab|trigger token|CI_TRIGGER|glptt-{h40}
Bitbucket|app password|BITBUCKET_APP_PASSWORD|ATBB{A32}
Bitbucket|access token|BITBUCKET_TOKEN|ATCTT3xFfGN0{b180}={H8}
Jira|API token|JIRA_API_TOKEN|ATATT3xFfGF0{b171}={H8}
CircleCI|token|CIRCLE_TOKEN|CCIPAT_{A22}_{h40}
Buildkite|API token|BUILDKITE_API_TOKEN|bkua_{h40}
SonarQube|token|SONAR_TOKEN|squ_{h40}
SonarCloud|project token|SONAR_TOKEN|sqp_{h40}
npm|token|NPM_TOKEN|npm_{A36}
PyPI|token|TWINE_PASSWORD|pypi-AgEIcHlwaS5vcmc{b160}
RubyGems|API key|GEM_HOST_API_KEY|rubygems_{h48}
crates.io|token|CARGO_REGISTRY_TOKEN|cio{A32}
NuGet|API key|NUGET_API_KEY|oy2{t43}
Docker Hub|access token|DOCKERHUB_TOKEN|dckr_pat_{b27}
Artifactory|API key|ARTIFACTORY_API_KEY|AKCp{A69}
Clojars|deploy token|CLOJARS_PASSWORD|CLOJARS_{h60}
Sentry|auth token|SENTRY_AUTH_TOKEN|sntryu_{h64}
Anthropic|API key|ANTHROPIC_API_KEY|sk-ant-api03-{b93}AA
Claude Code|OAuth token|CLAUDE_CODE_OAUTH_TOKEN|sk-ant-oat01-{b93}AA
Anthropic|admin key|ANTHROPIC_ADMIN_KEY|sk-ant-admin01-{b93}AA
OpenAI|project key|OPENAI_API_KEY|sk-proj-{b74}T3BlbkFJ{b74}
OpenAI|API key|OPENAI_API_KEY|sk-{A20}T3BlbkFJ{A20}
OpenAI|service account key|OPENAI_API_KEY|sk-svcacct-{b74}T3BlbkFJ{b74}
Hugging Face|token|HF_TOKEN|hf_{C34}
Replicate|token|REPLICATE_API_TOKEN|r8_{A37}
Groq|API key|GROQ_API_KEY|gsk_{A52}
Perplexity|API key|PERPLEXITY_API_KEY|pplx-{A48}
xAI|API key|XAI_API_KEY|xai-{A80}
OpenRouter|key|OPENROUTER_API_KEY|sk-or-v1-{h64}
DeepSeek|API key|DEEPSEEK_API_KEY|sk-{h32}
Fireworks|API key|FIREWORKS_API_KEY|fw_{A24}
ElevenLabs|API key|ELEVENLABS_API_KEY|sk_{h48}
LangSmith|API key|LANGSMITH_API_KEY|lsv2_pt_{h32}_{h10}
Pinecone|API key|PINECONE_API_KEY|pcsk_{A5}_{A63}
Tavily|key|TAVILY_API_KEY|tvly-dev-{A32}
Voyage AI|API key|VOYAGE_API_KEY|pa-{b43}
NVIDIA|API key|NVIDIA_API_KEY|nvapi-{b64}
Cerebras|API key|CEREBRAS_API_KEY|csk-{a48}
Together|API key|TOGETHER_API_KEY|tgp_v1_{b43}
Langfuse|secret key|LANGFUSE_SECRET_KEY|sk-lf-{uuid}
Stripe|secret key|STRIPE_SECRET_KEY|sk_live_51{A97}
Stripe|test key|STRIPE_KEY|sk_test_{A24}
Stripe|restricted key|STRIPE_RESTRICTED_KEY|rk_live_{A24}
Stripe|webhook secret|STRIPE_WEBHOOK_SECRET|whsec_{A32}
Square|access token|SQUARE_ACCESS_TOKEN|EAAA{b60}
Square|application secret|SQUARE_SECRET|sq0csp-{b43}
Braintree|access token|BRAINTREE_TOKEN|access_token$production${a16}${h32}
Razorpay|key|RAZORPAY_KEY|rzp_live_{A14}
Mollie|API key|MOLLIE_KEY|live_{A30}
Shopify|admin token|SHOPIFY_ADMIN_TOKEN|shpat_{h32}
Shopify|app secret|SHOPIFY_API_SECRET|shpss_{h32}
Paddle|API key|PADDLE_API_KEY|pdl_live_apikey_{a26}_{A22}_{A3}
Flutterwave|secret key|FLW_SECRET_KEY|FLWSECK-{h32}-X
Paystack|secret key|PAYSTACK_SECRET|sk_live_{h40}
GoCardless|access token|GC_ACCESS_TOKEN|live_{b40}
SendGrid|API key|SENDGRID_API_KEY|SG.{b22}.{b43}
Mailgun|API key|MAILGUN_API_KEY|key-{h32}
Mailchimp|API key|MAILCHIMP_API_KEY|{h32}-us12
Resend|API key|RESEND_API_KEY|re_{A8}_{A24}
Brevo|API key|BREVO_API_KEY|xkeysib-{h64}-{A16}
Mandrill|API key|MANDRILL_KEY|md-{b22}
Slack|bot token|SLACK_BOT_TOKEN|xoxb-{d12}-{d13}-{A24}
Slack|user token|SLACK_USER_TOKEN|xoxp-{d12}-{d12}-{d13}-{h32}
Slack|app token|SLACK_APP_TOKEN|xapp-1-A{U10}-{d13}-{h64}
Discord|bot token|DISCORD_TOKEN|M{A25}.G{b5}.{b38}
Telegram|bot token|TELEGRAM_BOT_TOKEN|{d10}:AA{b33}
Twilio|API key|TWILIO_API_KEY|SK{h32}
Matrix|access token|MATRIX_TOKEN|syt_{A12}_{A20}_{A6}
Notion|token|NOTION_TOKEN|ntn_{d11}{A35}
Notion|integration secret|NOTION_KEY|secret_{A43}
Linear|API key|LINEAR_API_KEY|lin_api_{A40}
Airtable|token|AIRTABLE_TOKEN|pat{A14}.{h64}
Figma|token|FIGMA_TOKEN|figd_{b40}
Trello|token|TRELLO_TOKEN|ATTA{h64}{H8}
HubSpot|private app token|HUBSPOT_TOKEN|pat-na1-{uuid}
Mapbox|secret token|MAPBOX_TOKEN|sk.eyJ1Ijoi{A60}.{b22}
New Relic|user key|NEW_RELIC_API_KEY|NRAK-{U27}
Grafana|service account token|GRAFANA_TOKEN|glsa_{A32}_{h8}
Grafana Cloud|token|GRAFANA_CLOUD_TOKEN|glc_eyJ{A110}
PostHog|personal key|POSTHOG_KEY|phx_{A43}
LaunchDarkly|SDK key|LAUNCHDARKLY_SDK_KEY|sdk-{uuid}
LaunchDarkly|API token|LD_API_TOKEN|api-{uuid}
Dynatrace|token|DT_API_TOKEN|dt0c01.{U24}.{U64}
Clerk|secret key|CLERK_SECRET_KEY|sk_live_{A40}
1Password|service token|OP_SERVICE_ACCOUNT_TOKEN|ops_eyJ{A300}
1Password|secret key|OP_SECRET_KEY|A3-{U6}-{U6}-{U5}-{U5}-{U5}-{U5}
Postman|API key|POSTMAN_API_KEY|PMAK-{h24}-{h34}
Contentful|management token|CONTENTFUL_TOKEN|CFPAT-{b43}
Typeform|token|TYPEFORM_TOKEN|tfp_{b44}_{b14}
Prefect|API key|PREFECT_API_KEY|pnu_{A36}
Readme|API key|README_API_KEY|rdme_{a70}
Infracost|API key|INFRACOST_API_KEY|ico-{A32}
Octopus Deploy|API key|OCTOPUS_KEY|API-{U26}
Frame.io|token|FRAMEIO_TOKEN|fio-u-{b64}
EasyPost|API key|EASYPOST_KEY|EZAK{A54}
Shippo|token|SHIPPO_TOKEN|shippo_live_{h40}
Duffel|token|DUFFEL_TOKEN|duffel_live_{b43}
Facebook|access token|FB_TOKEN|EAACEdEose0cBA{A110}
Cloudsmith|API key|CLOUDSMITH_KEY|csa_{h40}
Unkey|root key|UNKEY_ROOT_KEY|unkey_{A22}
age|secret key|AGE_KEY|AGE-SECRET-KEY-1{Q58}
Nostr|private key|NOSTR_KEY|nsec1{q58}
Bitcoin|extended private key|WALLET_XPRV|xprv9{5106}
Supabase|service role JWT|SUPABASE_SERVICE_ROLE_KEY|{jwt}
access|JWT|ACCESS_TOKEN|{jwt}
"""
_NAMED = """
AWS|secret access key|AWS_SECRET_ACCESS_KEY|{B40}
AWS|session token|AWS_SESSION_TOKEN|IQoJb3JpZ2luX2VjE{B300}==
Hetzner Cloud|API token|HCLOUD_TOKEN|{A64}
Cloudflare|API token|CLOUDFLARE_API_TOKEN|{b40}
Cloudflare|global API key|CLOUDFLARE_API_KEY|{h37}
Linode|token|LINODE_TOKEN|{h64}
Vultr|API key|VULTR_API_KEY|{U36}
Scaleway|secret key|SCW_SECRET_KEY|{uuid}
Vercel|token|VERCEL_TOKEN|{A24}
Railway|token|RAILWAY_TOKEN|{uuid}
Heroku|old API key|HEROKU_API_KEY|{uuid}
Alibaba Cloud|secret|ALIBABA_CLOUD_ACCESS_KEY_SECRET|{A30}
Tencent Cloud|secret key|TENCENTCLOUD_SECRET_KEY|{A32}
IBM Cloud|API key|IBMCLOUD_API_KEY|{b44}
Azure DevOps|token|AZURE_DEVOPS_EXT_PAT|{t52}
Azure OpenAI|key|AZURE_OPENAI_API_KEY|{h32}
Azure storage|account key|AZURE_STORAGE_KEY|{B86}==
Gitea|token|GITEA_TOKEN|{h40}
Drone|token|DRONE_TOKEN|{A32}
Codecov|token|CODECOV_TOKEN|{uuid}
Snyk|token|SNYK_TOKEN|{uuid}
Mistral|API key|MISTRAL_API_KEY|{A32}
Cohere|API key|COHERE_API_KEY|{A40}
Weights & Biases|API key|WANDB_API_KEY|{h40}
Deepgram|API key|DEEPGRAM_API_KEY|{h40}
AssemblyAI|API key|ASSEMBLYAI_API_KEY|{h32}
PayPal|client secret|PAYPAL_CLIENT_SECRET|E{b79}
Adyen|API key|ADYEN_API_KEY|AQE{b150}-{B43}=-{b16}
Razorpay|secret|RAZORPAY_KEY_SECRET|{A24}
Plaid|secret|PLAID_SECRET|{h30}
Postmark|server token|POSTMARK_SERVER_TOKEN|{uuid}
Mailjet|secret key|MJ_APIKEY_PRIVATE|{h32}
SES|SMTP password|SES_SMTP_PASSWORD|B{B43}
Twilio|auth token|TWILIO_AUTH_TOKEN|{h32}
Algolia|admin key|ALGOLIA_ADMIN_KEY|{h32}
Datadog|API key|DD_API_KEY|{h32}
Datadog|app key|DD_APP_KEY|{h40}
PagerDuty|API key|PAGERDUTY_TOKEN|u+{b18}
Elastic Cloud|API key|ELASTIC_API_KEY|{B58}==
Okta|API token|OKTA_API_TOKEN|00{b40}
Auth0|client secret|AUTH0_CLIENT_SECRET|{b64}
ngrok|authtoken|NGROK_AUTHTOKEN|2{A26}_{A21}
Amplitude|secret key|AMPLITUDE_SECRET_KEY|{h32}
Pusher|secret|PUSHER_SECRET|{h20}
Spotify|client secret|SPOTIFY_CLIENT_SECRET|{h32}
Twitter|consumer secret|TWITTER_CONSUMER_SECRET|{A50}
Twitch|client secret|TWITCH_CLIENT_SECRET|{a30}
Zoom|client secret|ZOOM_CLIENT_SECRET|{A32}
DeepL|auth key|DEEPL_AUTH_KEY|{uuid}:fx
OpenWeather|API key|OPENWEATHER_API_KEY|{h32}
Home Assistant|webhook secret|HA_WEBHOOK_SECRET|{a32}
Backblaze|application key|B2_APPLICATION_KEY|K00{A28}
Wasabi|secret key|WASABI_SECRET_KEY|{A40}
Firebase|server key|FCM_SERVER_KEY|AAAA{b7}:APA91b{b134}
Dropbox|app secret|DROPBOX_APP_SECRET|{a15}
Ethereum|private key|DEPLOYER_PRIVATE_KEY|0x{h64}
TOTP|secret|TOTP_SECRET|{T32}
Django|secret key|DJANGO_SECRET_KEY|{b50}
Rails|master key|RAILS_MASTER_KEY|{h32}
Rails|secret key base|SECRET_KEY_BASE|{h128}
Laravel|app key|APP_KEY|base64:{B43}=
NextAuth|secret|NEXTAUTH_SECRET|{B43}=
JWT|signing secret|JWT_SECRET|{h64}
session|secret|SESSION_SECRET|{b40}
Symfony|app secret|APP_SECRET|{h32}
encryption|key|ENCRYPTION_KEY|{B43}=
VAPID|private key|VAPID_PRIVATE_KEY|{b43}
database|password|DB_PASSWORD|{pass}
Postgres|password|PGPASSWORD|{pass}
root|password|MYSQL_ROOT_PASSWORD|{pass}
Redis|password|REDIS_PASSWORD|{pass}
SMTP|password|SMTP_PASSWORD|{pass}
admin|password|ADMIN_PASSWORD|{pass}
Jenkins|password|JENKINS_PASSWORD|{pass}
keystore|password|KEYSTORE_PASSWORD|{pass}
vault|passphrase|BORG_PASSPHRASE|{pass}
"""


def _read(lines: str, own_shape: bool) -> tuple[Token, ...]:
    found = []
    for line in lines.strip().splitlines():
        brand, what, env, pattern = line.split("|")
        found.append(Token(brand, what, env, pattern, own_shape))
    return tuple(found)


OWN_SHAPE = _read(_OWN, own_shape=True)
NAMED = _read(_NAMED, own_shape=False)
ALL = OWN_SHAPE + NAMED

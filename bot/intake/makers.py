"""Keys told by their maker's name alone: "Plaid: 4b16…", "use y0rH7-… for Cloudflare", "Vercel → NUEod6…".

Makers whose keys have no beginning of their own. What stands beside such a name may be an id, a commit
or a digest as well, so the words between are looked at, and a bare run of hex digits has to stand right
behind the name. Pure. Neighbours: tied.py (where a word for keys stands there too), judge.py.
"""

import re
from collections.abc import Iterator
from typing import Final

from bot.intake.judge import HEX, UUID, by_chance, made, tidy
from bot.intake.nearby import Near

_NAMES: Final = """
    ably adyen ahrefs airbrake airtable alchemy algolia amadeus amplitude anthropic apify apollo
    appwrite asana assemblyai auth0 authy aviationstack azure backblaze bamboohr basecamp
    betterstack bigcommerce binance bing bitbucket bitly bitrise braintree braze brevo
    browserstack bugsnag buildkite bybit calendly canva chargebee circleci clarifai clearbit
    clerk clickup cloudconvert cloudflare cloudinary cockroachdb codacy codecov codemagic cohere
    coinbase coinmarketcap confluent consul contentful convertkit coveralls customerio datadog
    deepgram deepinfra deepl deepseek digitalocean discord docusign doppler dropbox dynatrace
    elasticsearch elevenlabs etherscan etsy eventbrite exoscale fastly fauna figma finnhub
    firebase flickr freshdesk freshservice fullstory gandi geoapify geocodio giphy gitea github
    gitlab gocardless godaddy grafana graphhopper groq gumroad hashnode hcloud helpscout heroku
    hetzner honeybadger honeycomb hotjar hubspot huggingface imgur infura instagram intercom
    ionos ipinfo ipstack iterable jenkins jira jotform klarna klaviyo kraken kucoin langfuse
    lastfm launchdarkly lemlist lightstep linkedin linode lob logdna loggly logtail mailchimp
    mailersend mailgun mailjet mailtrap mandrill mapbox maptiler matomo messagebird mistral
    mixpanel mollie moralis mux namecheap nasa netlify newsapi nexmo ngrok northflank notion npm
    nytimes okta omise onesignal openai opencage openrouter openweather openweathermap opsgenie
    optimizely ovh pagerduty papertrail patreon paypal paystack pendo perplexity pinata pinecone
    pingdom pipedrive plaid planetscale plivo polygon porkbun posthog postman postmark printful
    pubnub pulumi pusher pushover quickbooks quicknode railway rapidapi raygun razorpay recurly
    reddit redis replicate resend ringcentral roboflow rollbar salesforce scaleway scalingo
    scrapingbee seatable sendbird sendcloud sendgrid sendinblue sentry serpapi servicenow shippo
    shodan shopify sinch slack smartsheet snyk sonarcloud sonarqube sparkpost splunk spotify
    stackblitz statuspage storyblok strapi strava stripe supabase surveymonkey tailscale tatum
    tavily telnyx terraform tiktok tinybird todoist tomtom transifex travis trello tumblr twilio
    twitch twitter typeform unsplash upcloud upstash uptimerobot vercel vimeo virustotal vonage
    voyage vultr wandb weaviate webex webflow wistia woocommerce wordpress xero yandex yelp
    youtube zapier zendesk zerobounce zoho zoom
"""
_MAKERS: Final = frozenset(_NAMES.split())
_ID_MAKERS: Final = frozenset({"heroku", "postmark", "snyk", "codecov", "coinmarketcap", "tatum"})
# What else stands beside a maker's name and looks as if a machine had made it.
_NO_KEY: Final = re.compile(
    r"(?<![^\W_])(?:(?:\w+[_-])?ids?|uuid|guid|event|issue|trace|span|request|req|ray|builds?|deploy\w*|commit|rev|"
    r"revision|sha\d*|hash\w*|digest|checksum|etag|md5|pages?|files?|boards?|docs?|documents?|folders?|"
    r"playlists?|tracks?|albums?|artists?|videos?|channels?|zones?|customers?|invoices?|orders?|tickets?|"
    r"sessions?|runs?|jobs?|images?|layers?|tags?|versions?|releases?|branch|fingerprint|serial|public|"
    r"publishable|containers?|buckets?|datasets?|snapshots?|volumes?|instances?|index|cache\w*|nonce|cursor|"
    r"address|wallet|transactions?|tx|block|slug|database|integrity|restored?|site|prüfsumme|somme|kennung|"
    r"integrity|lock\w*|artifact|blob|object|node|merge\w*|revert\w*|cherry-pick\w*)(?![^\W_])",
    re.IGNORECASE,
)
_RUN: Final = re.compile(r"(?<![\w/@.#&?+%-])[A-Za-z0-9][A-Za-z0-9_+/.~-]{18,199}={0,2}(?![\w@(/])")
_MARKS: Final = " \t\"'`*>"
_WORD: Final = re.compile(r"[^\W_]+")
_BETWEEN: Final = re.compile(
    r"(?:['’]s)?[\s,*_\"'`()]*(?:\w+[\s,]+){0,2}?(?:\w+(?=[:=]))?(?:[:=\uff1a—–→>-]+|is|ist|est|c['’]est|es|é|è|jest|это|now|now is)"
    r"[\s\"'`*(]*"
)
_FOR: Final = re.compile(
    r"[\"'`*]{0,3}[ \t]*[\[(](?P<within>[A-Za-z0-9]{3,16})[\])]|"
    r"[\"'`*)]{0,3},?[ \t]+\(?(?:for|für|pour|para|per|voor|dla|для|от|from|von|is|ist|est|es|as|als|için|till?|"
    r"goes into|=)[ \t]+(?:(?:the|our|my|your|das|der|die|den|unser\w*|le|la|notre|el|il|nuestro|de|het|new) ){0,2}"
    r"(?P<maker>[A-Za-z0-9]{3,16})(?![\w.])",
    re.IGNORECASE,
)
_REACH: Final = 60  # characters of a line before a value


def of_makers(text: str) -> Iterator[Near]:
    """Return what stands beside a maker's name as only a key of theirs would."""
    for found in _RUN.finditer(text):
        value = tidy(found[0])
        if len(value) >= 20 and not (value.islower() and value.isalpha()) and _told(text, found):
            yield Near("", value, found.start(), found.start() + len(value))


def _told(text: str, found: re.Match[str]) -> bool:
    value = tidy(found[0])
    plain_hex = HEX.fullmatch(value) is not None
    is_id = UUID.fullmatch(value) is not None
    if plain_hex and (len(value) in (40, 64, 128) or not made(value, 24)):
        return False  # a commit's or a digest's length
    if not (plain_hex or is_id or by_chance(value)):
        return False
    line = text.rfind("\n", 0, found.start()) + 1
    before = text[max(line, found.start() - _REACH) : found.start()]
    if _NO_KEY.search(before):
        return False
    if not before.strip(_MARKS) and re.match(r"[\s\"'`*]*(?:\n|\Z)", text[found.end() :][:9]):
        above = text[: max(0, line - 1)].rstrip().rsplit("\n", 1)[-1]
        before = above if len(above) <= 40 and not _NO_KEY.search(above) else before
    behind = _FOR.match(text, found.end())
    if behind is not None and (behind["maker"] or behind["within"]).lower() in _MAKERS:
        return not is_id
    for word in reversed([*_WORD.finditer(before)][-5:]):
        maker = word[0].lower()
        if maker in _MAKERS and (not is_id or maker in _ID_MAKERS):
            tight = _BETWEEN.fullmatch(before, word.end()) is not None
            return tight or not (plain_hex or is_id)
    return False

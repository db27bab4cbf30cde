"""Kinds that need surroundings of their own: addresses, private keys, files of settings, pairs.

A kind is a function that makes five messages, each with the secrets in it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from tests.intake.third.draw import ALNUM, BASE32, DIGITS, LOWER, Maker
from tests.intake.third.tokens import Made

Case = tuple[str, tuple[str, ...]]

Own = Callable[[Maker], list[Case]]
OWN: dict[str, Own] = {}


def own(kind: str) -> Callable[[Own], Own]:
    def keep(made: Own) -> Own:
        OWN[kind] = made
        return made

    return keep


def _each(m: Maker, made: Made, *forms: str) -> list[Case]:
    cases: list[Case] = []
    for form in forms:
        value = made(m)
        cases.append((form.replace("<V>", value), (value,)))
    return cases


@own("aws pair")
def _(m: Maker) -> list[Case]:
    forms = (
        "AWS_ACCESS_KEY_ID=<I>\nAWS_SECRET_ACCESS_KEY=<V>",
        "[default]\naws_access_key_id = <I>\naws_secret_access_key = <V>\nregion = eu-central-1",
        "Zugang zum Bucket: <I> / <V>",
        's3 = boto3.client("s3", aws_access_key_id="<I>", aws_secret_access_key="<V>")',
        "aws configure set aws_access_key_id <I> && aws configure set aws_secret_access_key <V>",
    )
    found: list[Case] = []
    for form in forms:
        key, secret = "AKIA" + m.of(BASE32, 16), m.of(ALNUM + "/+", 40)
        found.append((form.replace("<I>", key).replace("<V>", secret), (secret,)))
    return found


@own("azure storage")
def _(m: Maker) -> list[Case]:
    long = "DefaultEndpointsProtocol=https;AccountName=shopdata;AccountKey=<V>;EndpointSuffix=core.windows.net"
    return _each(
        m,
        lambda m: m.b64(64),
        f'AZURE_STORAGE_CONNECTION_STRING="{long}"',
        f"der Verbindungsstring vom Portal: {long}",
        "account shopdata, account key <V>",
        f'blob = BlobServiceClient.from_connection_string("{long}")',
        "az storage blob list --account-name shopdata --account-key '<V>' -c backups",
    )


@own("azure service bus")
def _(m: Maker) -> list[Case]:
    text = "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=<V>"
    return _each(
        m,
        lambda m: m.b64(32),
        f"SERVICEBUS={text}",
        text,
        f'"ServiceBus": "{text}"',
        f"voici la chaîne du bus : {text}",
        f"new ServiceBusClient('{text}')",
    )


@own("azure sas")
def _(m: Maker) -> list[Case]:
    url = "https://shopdata.blob.core.windows.net/backups?sv=2022-11-02&ss=b&srt=co&sp=rl&se=2026-12-01T00:00:00Z&spr=https&sig=<V>"

    def made(m: Maker) -> str:
        return m.b64(32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")

    return _each(
        m,
        made,
        url,
        f"azcopy copy '{url}' ./restore --recursive",
        f"the dump is here {url} until december",
        f"SAS_URL={url}",
        f"descárgalo de {url}",
    )


def _address(scheme: str, rest: str, *more: str) -> Own:
    url = f"{scheme}://<U>:<V>@{rest}"

    def made(m: Maker) -> list[Case]:
        forms = (
            f"DATABASE_URL={url}",
            f"can you dump {url} to the laptop",
            f'engine = create_engine("{url}")',
            f"die Datenbank: {url}, aber nur lesen bitte",
            f"url: {url}",
            *more,
        )
        return [
            (form.replace("<U>", "shop").replace("<V>", value), (value,))
            for form in m.luck.sample(forms, 5)
            for value in [m.alnum(m.luck.randrange(12, 25))]
        ]

    return made


OWN["postgres url"] = _address(
    "postgresql",
    "db.example.com:5432/shop?sslmode=require",
    "psql '<P>'".replace("<P>", "postgresql://<U>:<V>@10.0.0.5/shop"),
)
OWN["mysql url"] = _address("mysql", "mysql.example.com:3306/shop")
OWN["mongodb url"] = _address("mongodb+srv", "cluster0.ab1cd.mongodb.net/shop?retryWrites=true")
OWN["redis url"] = _address("rediss", "redis.example.com:6380/0")
OWN["amqp url"] = _address("amqps", "rabbit.example.com/shop")
OWN["smtp url"] = _address("smtp", "mail.example.com:587")
OWN["ftp url"] = _address("ftp", "files.example.com/www")
OWN["proxy url"] = _address("http", "proxy.example.com:3128")
OWN["git over https"] = _address(
    "https",
    "git.example.com/shop/api.git",
    "git clone https://<U>:<V>@git.example.com/shop/web.git",
)


@own("neon url")
def _(m: Maker) -> list[Case]:
    url = "postgresql://shop_owner:<V>@ep-cool-night-a1b2c3d4.eu-central-1.aws.neon.tech/shop?sslmode=require"
    return _each(
        m,
        lambda m: "npg_" + m.alnum(12),
        f"DATABASE_URL={url}",
        url,
        f"neon: {url}",
        f"const sql = neon('{url}')",
        f"数据库地址 {url}",
    )


@own("redis url without a user")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: m.alnum(32),
        "REDIS_URL=redis://:<V>@redis.example.com:6379/1",
        "redis-cli -u redis://:<V>@10.0.0.9:6379 ping",
        "cache = Redis.from_url('redis://:<V>@cache:6379')",
        "broker: redis://:<V>@broker:6379/0",
        "redis-cli -h cache -a <V> info",
    )


@own("cloudinary url")
def _(m: Maker) -> list[Case]:
    url = "cloudinary://514987251369847:<V>@shop-media"
    return _each(
        m,
        lambda m: m.urlsafe(27),
        f"CLOUDINARY_URL={url}",
        url,
        f"cloudinary.config(url='{url}')",
        f"export CLOUDINARY_URL={url}",
        f"para las imágenes usa {url}",
    )


@own("jdbc")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: m.alnum(16),
        "jdbc:mysql://db:3306/shop?user=shop&password=<V>&useSSL=false",
        "jdbc:sqlserver://db:1433;databaseName=shop;user=sa;password=<V>;encrypt=true",
        "Server=db;Database=shop;User Id=sa;Password=<V>;TrustServerCertificate=True",
        'var c = "Host=db;Username=shop;Password=<V>;Database=shop";',
        "host=db port=5432 dbname=shop user=shop password=<V>",
    )


@own("basic auth header")
def _(m: Maker) -> list[Case]:
    def made(m: Maker) -> str:
        return base64.b64encode(f"deploy:{m.alnum(18)}".encode()).decode()

    return _each(
        m,
        made,
        "curl -H 'Authorization: Basic <V>' https://ci.example.com/job/shop/build",
        "Authorization: Basic <V>",
        "headers = {'Authorization': 'Basic <V>'}",
        "//registry.example.com/:_auth=<V>",
        'req.Header.Set("Authorization", "Basic <V>")',
    )


@own("docker config")
def _(m: Maker) -> list[Case]:
    def made(m: Maker) -> str:
        return base64.b64encode(f"robot$ci:{m.alnum(32)}".encode()).decode()

    return _each(
        m,
        made,
        '{"auths": {"registry.example.com": {"auth": "<V>"}}}',
        '{\n  "auths": {\n    "https://index.docker.io/v1/": {\n      "auth": "<V>"\n    }\n  }\n}',
        'config.json auf dem Runner:\n{"auths":{"ghcr.io":{"auth":"<V>"}}}',
        'put {"auths":{"quay.io":{"auth":"<V>","email":""}}} into ~/.docker/config.json',
        "'auths': {'harbor.example.com': {'auth': '<V>'}}",
    )


@own("kubernetes secret")
def _(m: Maker) -> list[Case]:
    def made(m: Maker) -> str:
        return base64.b64encode(m.password().encode()).decode()

    head = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\ntype: Opaque\ndata:\n"
    return _each(
        m,
        made,
        head + "  password: <V>",
        head + "  username: c2hvcA==\n  db-password: <V>",
        head + "  api-token: <V>",
        "kind: Secret\napiVersion: v1\ndata:\n  SMTP_PASSWORD: <V>\nmetadata:\n  name: mail",
        '{"kind":"Secret","apiVersion":"v1","data":{"password":"<V>"}}',
    )


def _block(kind: str, count: int, head: bytes = b"") -> Own:
    def made(m: Maker) -> list[Case]:
        found: list[Case] = []
        for form in (
            "<V>",
            "deploy key for the box:\n\n<V>\n\nput it into ~/.ssh",
            "```\n<V>\n```",
            "cat > key.pem <<'EOF'\n<V>\nEOF\nchmod 600 key.pem",
            "KEY: |\n<I>\nmode: '0600'",
        ):
            block = m.pem(kind, count, head)
            indented = "\n".join("  " + line for line in block.splitlines())
            text = form.replace("<V>", block).replace("<I>", indented)
            found.append((text, tuple(block.splitlines()[1:-1])))
        return found

    return made


OWN["openssh private key"] = _block(
    "OPENSSH PRIVATE KEY", 290, b"openssh-key-v1\0\0\0\0\4none\0\0\0\4none\0\0\0\0\0\0\0\1"
)
OWN["rsa private key"] = _block(
    "RSA PRIVATE KEY", 1190, b"\x30\x82\x04\xa2\x02\x01\x00\x02\x82\x01\x01\x00"
)
OWN["ec private key"] = _block("EC PRIVATE KEY", 121, b"\x30\x77\x02\x01\x01\x04\x20")
OWN["pkcs8 private key"] = _block(
    "PRIVATE KEY", 1217, b"\x30\x82\x04\xbd\x02\x01\x00\x30\x0d\x06\x09"
)
OWN["encrypted private key"] = _block("ENCRYPTED PRIVATE KEY", 1310, b"\x30\x82\x05\x1a")


@own("private key on one line")
def _(m: Maker) -> list[Case]:
    found: list[Case] = []
    for form in (
        'PRIVATE_KEY="<V>"',
        '{"type": "service_account", "project_id": "shop", "private_key_id": "<H>", "private_key": "<V>\\n", "client_email": "ci@shop.iam.gserviceaccount.com"}',
        "FIREBASE_PRIVATE_KEY='<V>'",
        'private_key: "<V>"',
        'pem := "<V>"',
    ):
        block = m.pem("PRIVATE KEY", 1217, b"\x30\x82\x04\xbd\x02\x01\x00\x30\x0d\x06\x09")
        text = form.replace("<V>", block.replace("\n", "\\n")).replace("<H>", m.hex(40))
        found.append((text, tuple(block.splitlines()[1:-1])))
    return found


@own("pgp private key")
def _(m: Maker) -> list[Case]:
    found: list[Case] = []
    for form in (
        "<V>",
        "signing key:\n<V>",
        "```\n<V>\n```",
        "gpg --import <<'EOF'\n<V>\nEOF",
        "für die Paketsignatur\n\n<V>",
    ):
        block = m.pgp()
        found.append((form.replace("<V>", block), tuple(block.splitlines()[2:-1])))
    return found


@own("putty key")
def _(m: Maker) -> list[Case]:
    def block(m: Maker) -> tuple[str, tuple[str, ...]]:
        text = m.b64(105)
        lines = tuple(text[i : i + 64] for i in range(0, len(text), 64))
        head = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: deploy\nPublic-Lines: 2\n"
        head += (
            f"AAAAC3NzaC1lZDI1NTE5AAAAI{m.alnum(39)}\n{m.alnum(4)}\nPrivate-Lines: {len(lines)}\n"
        )
        return head + "\n".join(lines) + f"\nPrivate-MAC: {m.hex(64)}", lines

    found: list[Case] = []
    for form in (
        "<V>",
        "my putty key\n<V>",
        "```\n<V>\n```",
        "convierte esto a openssh:\n\n<V>",
        "save as deploy.ppk\n<V>",
    ):
        text, lines = block(m)
        found.append((form.replace("<V>", text), lines))
    return found


@own("wireguard")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: m.b64(32),
        "[Interface]\nPrivateKey = <V>\nAddress = 10.8.0.2/24\n\n[Peer]\nEndpoint = vpn.example.com:51820",
        "wg set wg0 private-key <(echo <V>)",
        "[Peer]\nPublicKey = " + m.b64(32) + "\nPresharedKey = <V>\nAllowedIPs = 0.0.0.0/0",
        "wireguard private key: <V>",
        "private_key: <V>\nlisten_port: 51820",
    )


@own("openvpn static key")
def _(m: Maker) -> list[Case]:
    found: list[Case] = []
    for form in (
        "<V>",
        "ta.key:\n<V>",
        "<tls-auth>\n<V>\n</tls-auth>",
        "```\n<V>\n```",
        "secret für den Tunnel:\n<V>",
    ):
        lines = tuple(m.hex(32) for _ in range(16))
        block = "\n".join(
            ("-----BEGIN OpenVPN Static key V1-----", *lines, "-----END OpenVPN Static key V1-----")
        )
        found.append((form.replace("<V>", block), lines))
    return found


@own("totp secret")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: m.of(BASE32, 32),
        "otpauth://totp/Shop:admin@example.com?secret=<V>&issuer=Shop",
        "2FA secret for the bot account: <V>",
        "totp = pyotp.TOTP('<V>')",
        "TOTP_SECRET=<V>",
        "oathtool --totp -b <V>",
    )


@own("netrc")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: m.alnum(20),
        "machine api.example.com login deploy password <V>",
        "machine git.example.com\nlogin bot\npassword <V>",
        "echo 'machine repo.example.com login ci password <V>' >> ~/.netrc",
        "default login anonymous password <V>",
        "db.example.com:5432:shop:deploy:<V>",
    )


@own("npmrc")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: m.uuid(),
        "//registry.npmjs.org/:_authToken=<V>",
        "//npm.example.com/:_authToken=<V>\nalways-auth=true",
        "npm config set //npm.example.com/:_authToken <V>",
        'npmAuthToken: "<V>"',
        '@shop:registry=https://npm.example.com/\n//npm.example.com/:_authToken="<V>"',
    )


@own("app password, four words")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: m.spaced(),
        "gmail app password: <V>",
        "App-Passwort für das Postfach: <V>",
        'SMTP_PASS="<V>"',
        "contraseña de aplicación de Google: <V>",
        "smtp.login('bot@example.org', '<V>')",
    )


@own("apple app password")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: "-".join(m.of(LOWER, 4) for _ in range(4)),
        "xcrun notarytool store-credentials --apple-id me@example.com --password <V>",
        "app-specific password <V> for notarization",
        "APPLE_APP_PASSWORD=<V>",
        "mot de passe d'app iCloud : <V>",
        "FASTLANE_APPLE_APPLICATION_SPECIFIC_PASSWORD=<V>",
    )


@own("session cookie")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: m.of(LOWER + DIGITS, 32),
        "curl -b 'sessionid=<V>' https://shop.example.com/admin/",
        "Cookie: csrftoken=x; sessionid=<V>",
        "document.cookie = 'session_token=<V>'",
        "Set-Cookie: auth_token=<V>; HttpOnly; Secure",
        "use my session: PHPSESSID=<V>",
    )


@own("cloudflare tunnel")
def _(m: Maker) -> list[Case]:
    def made(m: Maker) -> str:
        return base64.b64encode(
            json.dumps(
                {"a": m.hex(32), "t": m.uuid(), "s": m.b64(32)}, separators=(",", ":")
            ).encode()
        ).decode()

    return _each(
        m,
        made,
        "cloudflared tunnel run --token <V>",
        "sudo cloudflared service install <V>",
        "TUNNEL_TOKEN=<V>",
        "der Tunnel-Token: <V>",
        "command: tunnel --no-autoupdate run --token <V>",
    )


@own("kubeconfig")
def _(m: Maker) -> list[Case]:
    def jwt(m: Maker) -> str:
        return m.jwt(iss="kubernetes/serviceaccount")

    return _each(
        m,
        jwt,
        "users:\n- name: ci\n  user:\n    token: <V>",
        "kubectl --token=<V> get pods -n shop",
        "kubectl config set-credentials ci --token=<V>",
        "token: <V>\nca.crt: 1099 bytes\nnamespace: 7 bytes",
        'curl -k -H "Authorization: Bearer <V>" https://10.0.0.1:6443/api/v1/pods',
    )


@own("oauth answer")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: m.urlsafe(43),
        '{"access_token":"<V>","token_type":"bearer","expires_in":3600}',
        "https://app.example.com/callback#access_token=<V>&token_type=bearer",
        '{"refresh_token": "<V>", "scope": "read write"}',
        "grant_type=client_credentials&client_id=shop&client_secret=<V>",
        "client_id: shop-ci\nclient_secret: <V>",
    )


@own("presigned url")
def _(m: Maker) -> list[Case]:
    url = "https://shop.s3.eu-central-1.amazonaws.com/dump.sql.gz?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20260302T101112Z&X-Amz-Expires=604800&X-Amz-SignedHeaders=host&X-Amz-Signature=<V>"
    return _each(
        m,
        lambda m: m.hex(64),
        url,
        f"wget '{url}'",
        f"here is the dump {url} for a week",
        f"<{url}>",
        f"prends {url}",
    )


@own("backup passphrase")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: m.password(),
        "RESTIC_PASSWORD='<V>'",
        'BORG_PASSPHRASE="<V>"',
        "restic passphrase is <V>",
        "die Passphrase vom Backup lautet <V>",
        "gpg --batch --passphrase '<V>' -d dump.gpg > dump.sql",
    )


@own("backblaze")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: "K003" + m.of(ALNUM + "/+", 27),
        "B2_APPLICATION_KEY_ID=003" + m.hex(22) + "\nB2_APPLICATION_KEY=<V>",
        "b2 authorize-account 003" + m.hex(22) + " <V>",
        "applicationKey: <V>",
        "backblaze key <V>",
        "rclone config create b2 b2 account=003" + m.hex(22) + " key=<V>",
    )


@own("snmp, radius and the like")
def _(m: Maker) -> list[Case]:
    return _each(
        m,
        lambda m: m.alnum(16),
        "snmp-server community <V> RW",
        "client 10.0.0.0/8 {\n  secret = <V>\n  shortname = lan\n}",
        "shared secret for the radius server: <V>",
        "ipsec psk: <V>",
        ': PSK "<V>"',
    )


@own("recovery codes")
def _(m: Maker) -> list[Case]:
    found: list[Case] = []
    for form in (
        "GitHub recovery codes:\n<V>",
        "backup codes for the bot account\n<V>",
        "Wiederherstellungscodes:\n<V>",
        "códigos de recuperación:\n<V>",
        "2FA backup codes:\n\n<V>\n\nkeep them",
    ):
        codes = tuple(f"{m.hex(5)}-{m.hex(5)}" for _ in range(4))
        found.append((form.replace("<V>", "\n".join(codes)), codes))
    return found

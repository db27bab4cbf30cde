"""Secrets that come as a text of their own: config files, private keys, addresses, headers.

Each function makes one specimen: the text, and what in it must not remain. `ALL` lists them by name.
"""

import json
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from tests.intake.second import draw
from tests.intake.second.draw import b64, fill, run


class Block(NamedTuple):
    """A text with what must be found in it."""

    text: str
    secrets: tuple[str, ...]


Maker = Callable[[Random], Block]
ALL: dict[str, Maker] = {}


def _of(text: str, *secrets: str) -> Block:
    for secret in secrets:
        assert secret in text, (secret, text)
    return Block(text, secrets)


def _called(name: str) -> Callable[[Maker], Maker]:
    def keep(maker: Maker) -> Maker:
        assert name not in ALL, name
        ALL[name] = maker
        return maker

    return keep


def _pattern(name: str, pattern: str, *holes: str) -> None:
    """Add a kind written as one text with numbered places: @0 is filled from the first hole."""

    def make(rng: Random) -> Block:
        values = [fill(rng, hole) for hole in holes]
        text = fill(rng, pattern.replace("@0", "\0").replace("@1", "\1"))
        for mark, value in zip("\0\1", values, strict=False):
            text = text.replace(mark, value)
        return _of(text, *values)

    _called(name)(make)


# What is reached with a password in its address, or in a string of settings.
for _name, _pattern_, *_holes in (
    ("postgres url", "postgresql://app:@0@db-{d2}.internal:5432/orders", "{pass}"),
    ("postgres url, asyncpg", "postgresql+asyncpg://svc_{word}:@0@db.{word}.lan/main", "{pass}"),
    ("supabase pooler url", "postgres://postgres.{l20}:@0@aws-0-eu-west-1.pooler.supabase.com:6543/postgres", "{pass}"),
    ("neon url", "postgresql://neondb_owner:npg_@0@ep-{word}-{word}-{d8}.eu-central-1.aws.neon.tech/neondb?sslmode=require", "{A12}"),
    ("mysql url", "mysql://root:@0@mysql.prod.{word}.io:3306/shop", "{pass}"),
    ("mongodb srv url", "mongodb+srv://{word}:@0@cluster0.{a5}.mongodb.net/?retryWrites=true&w=majority", "{A16}"),
    ("redis url", "redis://default:@0@redis-{d5}.c1.eu-west-1-3.ec2.cloud.redislabs.com:{d5}", "{A32}"),
    ("redis url without a user", "redis://:@0@cache.{word}.net:6379/0", "{pass}"),
    ("amqp url", "amqps://{l8}:@0@kangaroo.rmq.cloudamqp.com/{l8}", "{b32}"),
    ("clickhouse url", "clickhouse://default:@0@ch.{word}.dev:9440/events?secure=true", "{pass}"),
    ("smtp url", "smtps://mailer%40{word}.org:@0@smtp.{word}.org:465", "{pass}"),
    ("ftp url", "ftp://deploy:@0@ftp.{word}.com/htdocs", "{pass}"),
    ("basic auth url", "https://admin:@0@grafana.{word}.dev/api/dashboards/home", "{pass}"),
    ("git remote with a token", "https://oauth2:@0@gitlab.{word}.com/team/app.git", "glpat-{b20}"),
    ("git remote with a forge's token", "git clone https://{word}:@0@codeberg.org/{word}/site.git", "{h40}"),
    ("git remote, token as the user", "https://@0@github.com/{word}/{word}.git", "ghp_{A36}"),
    ("pip index url", "pip install --extra-index-url https://build:@0@pypi.{word}.io/simple {word}", "{A28}"),
    ("proxy url", "export HTTPS_PROXY=http://{word}:@0@proxy.corp.{word}.com:3128", "{pass}"),
    ("sqlserver ado.net string", "Server=tcp:{word}.database.windows.net,1433;Initial Catalog=crm;User ID=sqladmin;Password=@0;Encrypt=True;", "{pass}"),
    ("npgsql string", "Host=db.{word}.local;Username=app;Password=@0;Database=app", "{pass}"),
    ("mysql connector string", "server=localhost;uid=root;pwd=@0;database={word}", "{pass}"),
    ("jdbc with a password", "jdbc:postgresql://pg.{word}.net:5432/books?user=writer&password=@0&ssl=true", "{pass}"),
    ("jdbc sqlserver", "jdbc:sqlserver://{word}:1433;databaseName=hr;user=sa;password=@0;", "{pass}"),
    ("jdbc oracle thin", "jdbc:oracle:thin:scott/@0@//ora.{word}.local:1521/XEPDB1", "{A14}"),
    ("libpq words", "host=10.2.{d1}.4 port=5432 dbname=app user=app password=@0 sslmode=require", "{pass}"),
    ("odbc string", "Driver={ODBC Driver 18 for SQL Server};Server=sql.{word}.io;UID=sa;PWD=@0", "{pass}"),
    ("azure storage string", "DefaultEndpointsProtocol=https;AccountName={l12};AccountKey=@0;EndpointSuffix=core.windows.net", "{B86}=="),
    ("azure service bus string", "Endpoint=sb://{word}.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=@0", "{B43}="),
    ("azure cosmos string", "AccountEndpoint=https://{word}.documents.azure.com:443/;AccountKey=@0;", "{B86}=="),
    ("azure sas url", "https://{l12}.blob.core.windows.net/backup?sv=2022-11-02&ss=b&srt=co&sp=rl&se=2027-01-01T00:00:00Z&sig=@0", "{A42}%3D"),
    ("aws presigned url", "https://{word}.s3.amazonaws.com/dump.tar.gz?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA{T16}%2F20261101%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=20261101T101500Z&X-Amz-Expires=604800&X-Amz-SignedHeaders=host&X-Amz-Signature=@0", "{h64}"),
    ("cloudinary url", "cloudinary://{d15}:@0@{word}-media", "{b27}"),
    ("url with an api key", "https://api.{word}.com/v2/items?limit=50&api_key=@0", "{a32}"),
    ("url with an access token", "https://graph.{word}.com/me?fields=id&access_token=@0", "{A60}"),
    ("slack webhook", "https://hooks.slack.com/services/T{U8}/B{U10}/@0", "{A24}"),
    ("discord webhook", "https://discord.com/api/webhooks/{d19}/@0", "{b68}"),
    ("teams webhook", "https://{word}.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/@0/{uuid}", "{h32}"),
    ("telegram api url", "https://api.telegram.org/bot@0/getUpdates", "{d10}:AA{b33}"),
    ("zapier hook", "https://hooks.zapier.com/hooks/catch/{d7}/@0/", "{a7}"),
    ("ifttt url", "https://maker.ifttt.com/trigger/door/with/key/@0", "{b22}"),
    ("otpauth url", "otpauth://totp/Acme:{word}?secret=@0&issuer=Acme&digits=6", "{T32}"),
    ("wifi code", "WIFI:T:WPA;S:{word}-5G;P:@0;;", "{pass}"),
    ("infura url", "https://mainnet.infura.io/v3/@0", "{h32}"),
    ("alchemy url", "https://eth-mainnet.g.alchemy.com/v2/@0", "{b32}"),
    ("sentry dsn of the old kind", "https://{h32}:@0@sentry.{word}.com/12", "{h32}"),
    # Headers and commands.
    ("curl with user and password", "curl -u admin:@0 https://jenkins.{word}.org/api/json", "{pass}"),
    ("curl with a bearer", "curl -sS https://api.{word}.io/v1/me -H 'Authorization: Bearer @0'", "{A40}"),
    ("basic header", "Authorization: Basic @0", "{A42}=="),
    ("x-api-key header", "x-api-key: @0", "{A40}"),
    ("private-token header", "curl --header \"PRIVATE-TOKEN: @0\" https://gitlab.{word}.org/api/v4/projects", "{b20}"),
    ("session cookie", "Cookie: theme=dark; sessionid=@0; lang=de", "{a32}"),
    ("github actions header", "Authorization: token @0", "{h40}"),
    ("mysql command", "mysql -h db.{word}.com -u root -p@0 shop < dump.sql", "{A16}"),
    ("psql with its password", "PGPASSWORD=@0 psql -h pg.{word}.io -U app -d app", "{pass}"),
    ("sshpass", "sshpass -p '@0' ssh deploy@{word}.example.net", "{pass}"),
    ("docker login", "docker login -u {word} -p @0 registry.{word}.com", "{A24}"),
    ("redis-cli", "redis-cli -h cache.{word}.io -a @0 PING", "{A20}"),
    ("openssl passin", "openssl pkcs12 -in cert.p12 -passin pass:@0 -nodes", "{pass}"),
    ("ldapsearch", "ldapsearch -x -D cn=admin,dc={word},dc=org -w @0 -b dc={word},dc=org", "{pass}"),
    ("kubectl create secret", "kubectl create secret generic db --from-literal=password=@0 -n prod", "{pass}"),
    ("aws configure set", "aws configure set aws_secret_access_key @0 --profile prod", "{B40}"),
    ("gh secret set", "gh secret set DEPLOY_KEY --body '@0'", "{A40}"),
    ("vault kv put", "vault kv put secret/app db_password=@0", "{pass}"),
    ("sql alter user", "ALTER USER app WITH PASSWORD '@0';", "{pass}"),
    ("mysql identified by", "CREATE USER 'shop'@'%' IDENTIFIED BY '@0';", "{pass}"),
    ("chpasswd", "echo 'deploy:@0' | sudo chpasswd", "{pass}"),
    ("net use", "net use Z: \\\\nas\\share @0 /user:{word}", "{pass}"),
    # Lines of config files.
    ("npmrc", "registry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken=@0", "npm_{A36}"),
    ("npmrc of a private registry", "@{word}:registry=https://npm.{word}.io/\n//npm.{word}.io/:_authToken=@0", "{uuid}"),
    ("npmrc _auth", "//artifacts.{word}.com/npm/:_auth=@0\nalways-auth=true", "{A50}=="),
    ("pypirc", "[pypi]\nusername = __token__\npassword = @0", "pypi-AgEIcHlwaS5vcmc{b150}"),
    ("pypirc with a password", "[distutils]\nindex-servers = internal\n\n[internal]\nrepository = https://pypi.{word}.lan\nusername = ci\npassword = @0", "{pass}"),
    ("netrc", "machine api.heroku.com\n  login {word}@{word}.com\n  password @0", "{uuid}"),
    ("netrc in one line", "machine git.{word}.org login ci password @0", "{pass}"),
    ("git-credentials", "https://{word}:@0@git.{word}.org", "{A32}"),
    ("pgpass", "# .pgpass\ndb.{word}.io:5432:app:app:@0", "{pass}"),
    ("my.cnf", "[client]\nuser=backup\npassword=@0\nhost=10.1.1.{d1}", "{pass}"),
    ("aws credentials file", "[prod]\naws_access_key_id = AKIA{T16}\naws_secret_access_key = @0\nregion = eu-central-1", "{B40}"),
    ("aws keys csv", "Access key ID,Secret access key\nAKIA{T16},@0", "{B40}"),
    ("s3cfg", "[default]\naccess_key = {U20}\nsecret_key = @0\nhost_base = s3.{word}.com", "{A40}"),
    ("rclone.conf", "[box]\ntype = webdav\nurl = https://dav.{word}.org\nuser = me\npass = @0", "{b30}"),
    ("sftp.json", '{"host": "{word}.net", "protocol": "sftp", "username": "www", "password": "@0"}', "{pass}"),
    ("gradle.properties", "signing.keyId={H8}\nsigning.password=@0\nsigning.secretKeyRingFile=ring.gpg", "{pass}"),
    ("android keystore", "storeFile=release.jks\nstorePassword=@0\nkeyAlias=upload\nkeyPassword=@1", "{pass}", "{pass}"),
    ("maven settings", "<server>\n  <id>nexus</id>\n  <username>deploy</username>\n  <password>@0</password>\n</server>", "{pass}"),
    ("nuget.config", '<packageSourceCredentials><Feed><add key="Username" value="ci" /><add key="ClearTextPassword" value="@0" /></Feed></packageSourceCredentials>', "{A24}"),
    ("web.config", '<add name="Main" connectionString="Data Source=.;Initial Catalog=Shop;User Id=web;Password=@0" />', "{pass}"),
    ("appsettings.json", '{\n  "ConnectionStrings": {\n    "Default": "Server=db;Database=app;User Id=app;Password=@0;TrustServerCertificate=true"\n  }\n}', "{pass}"),
    ("appsettings jwt", '{ "Jwt": { "Issuer": "app", "Key": "@0", "ExpireMinutes": 60 } }', "{A48}"),
    ("spring properties", "spring.datasource.url=jdbc:mysql://db:3306/app\nspring.datasource.username=app\nspring.datasource.password=@0", "{pass}"),
    ("spring yaml", "spring:\n  mail:\n    host: smtp.{word}.org\n    username: noreply\n    password: @0", "{pass}"),
    ("quarkus properties", "quarkus.datasource.username=q\nquarkus.datasource.password=@0", "{pass}"),
    ("rails database.yml", "production:\n  adapter: postgresql\n  username: rails\n  password: @0\n  host: db", "{pass}"),
    ("rails secrets.yml", "production:\n  secret_key_base: @0", "{h128}"),
    ("phoenix config", 'config :app, AppWeb.Endpoint,\n  secret_key_base: "@0"', "{B64}"),
    ("django settings", "DEBUG = False\nSECRET_KEY = 'django-insecure-@0'\nALLOWED_HOSTS = []", "{b50}"),
    ("django databases", "DATABASES = {'default': {'ENGINE': 'django.db.backends.postgresql', 'USER': 'app', 'PASSWORD': '@0'}}", "{pass}"),
    ("flask", 'app.config["SECRET_KEY"] = "@0"', "{h48}"),
    ("wordpress salts", "define('AUTH_KEY',         '@0');\ndefine('SECURE_AUTH_KEY',  '@1');", "{b64}", "{b64}"),
    ("wp-config", "define( 'DB_USER', 'wp' );\ndefine( 'DB_PASSWORD', '@0' );", "{pass}"),
    ("laravel env", "APP_NAME=Shop\nAPP_KEY=base64:@0\nDB_USERNAME=shop\nDB_PASSWORD=@1", "{B43}=", "{pass}"),
    ("symfony env", "APP_ENV=prod\nAPP_SECRET=@0\nMAILER_DSN=smtp://user:@1@mail.{word}.org:587", "{h32}", "{pass}"),
    ("next.js env", "NEXTAUTH_URL=https://{word}.app\nNEXTAUTH_SECRET=@0\nGITHUB_ID={h20}\nGITHUB_SECRET=@1", "{B43}=", "{h40}"),
    ("strapi env", "HOST=0.0.0.0\nAPP_KEYS=@0\nADMIN_JWT_SECRET=@1", "{B22}==,{B22}==", "{B22}=="),
    ("n8n env", "N8N_HOST=n8n.{word}.io\nN8N_ENCRYPTION_KEY=@0", "{A32}"),
    ("minio env", "MINIO_ROOT_USER=minio\nMINIO_ROOT_PASSWORD=@0", "{pass}"),
    ("keycloak env", "KEYCLOAK_ADMIN=admin\nKEYCLOAK_ADMIN_PASSWORD=@0", "{pass}"),
    ("grafana.ini", "[security]\nadmin_user = admin\nadmin_password = @0", "{pass}"),
    ("redis.conf", "bind 0.0.0.0\nrequirepass @0\nappendonly yes", "{A32}"),
    ("mosquitto", "remote_username bridge\nremote_password @0", "{pass}"),
    ("rabbitmq cookie", "RABBITMQ_ERLANG_COOKIE=@0", "{L20}"),
    ("wpa_supplicant", 'network={\n  ssid="{word}"\n  psk="@0"\n}', "{pass}"),
    ("ppp secrets", "# chap-secrets\nvpnuser * @0 *", "{pass}"),
    ("openvpn static key words", "username: {word}\npassword: @0\nprofile: office.ovpn", "{pass}"),
    ("k8s stringData", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\nstringData:\n  password: @0", "{pass}"),
    ("helm values", "postgresql:\n  auth:\n    username: app\n    postgresPassword: @0\n    existingSecret: ''", "{pass}"),
    ("compose environment", "services:\n  db:\n    image: postgres:16\n    environment:\n      POSTGRES_PASSWORD: @0\n      POSTGRES_USER: app", "{pass}"),
    ("dockerfile env", "FROM node:20\nENV API_TOKEN=@0\nRUN npm ci", "{A40}"),
    ("docker run -e", "docker run -d -e MYSQL_ROOT_PASSWORD=@0 -p 3306:3306 mysql:8", "{pass}"),
    ("tfvars", 'region = "eu-west-1"\ndb_password = "@0"\nhcloud_token = "@1"', "{pass}", "{A64}"),
    ("terraform provider", 'provider "aws" {\n  access_key = "AKIA{T16}"\n  secret_key = "@0"\n}', "{B40}"),
    ("ansible inventory", "web1 ansible_host=10.0.0.{d1} ansible_user=root ansible_ssh_pass=@0", "{pass}"),
    ("ansible vars", "vars:\n  ansible_become_password: @0", "{pass}"),
    ("github actions env", "    env:\n      API_KEY: @0\n      NODE_ENV: production", "{A40}"),
    ("travis global", "env:\n  global:\n    - SAUCE_ACCESS_KEY=@0", "{uuid}"),
    ("systemd unit", "[Service]\nEnvironment=\"BOT_TOKEN=@0\"\nExecStart=/opt/bot/run", "{d10}:AA{b33}"),
    ("crontab", "0 4 * * * RESTIC_PASSWORD=@0 restic backup /srv", "{pass}"),
    ("wireguard", "[Interface]\nPrivateKey = @0\nAddress = 10.8.0.2/24\n\n[Peer]\nPublicKey = {B43}=\nPresharedKey = @1\nEndpoint = vpn.{word}.net:51820", "{B43}=", "{B43}="),
    ("cargo credentials", "[registry]\ntoken = \"@0\"", "cio{A32}"),
    ("pip.conf", "[global]\nindex-url = https://ci:@0@nexus.{word}.com/repository/pypi/simple", "{pass}"),
    ("composer auth.json", '{"github-oauth": {"github.com": "@0"}, "http-basic": {"repo.{word}.com": {"username": "u", "password": "@1"}}}', "ghp_{A36}", "{A32}"),
    ("gemfile credentials", "---\n:rubygems_api_key: @0", "rubygems_{h48}"),
    ("hub file", "github.com:\n- user: {word}\n  oauth_token: @0\n  protocol: https", "gho_{A36}"),
    ("kubeconfig token", "users:\n- name: ci\n  user:\n    token: @0", "{jwt}"),
    ("azure publish profile", '<publishProfile profileName="site - Web Deploy" userName="$site" userPWD="@0" />', "{A60}"),
    ("filezilla", "<Host>ftp.{word}.de</Host><User>web</User><Pass encoding=\"base64\">@0</Pass>", "{A22}=="),
    ("python literal", 'client = Client("https://api.{word}.io", api_key="@0")', "{A32}"),
    ("python dict", "headers = {'Accept': 'application/json', 'X-Auth-Token': '@0'}", "{A36}"),
    ("javascript literal", "const apiSecret = '@0';", "{A40}"),
    ("typescript object", "export const config = { clientId: '{a20}', clientSecret: '@0' }", "{A40}"),
    ("java literal", 'private static final String ACCESS_TOKEN = "@0";', "{A48}"),
    ("go literal", 'var signingKey = []byte("@0")', "{A44}"),
    ("c# literal", 'var credential = new NetworkCredential("svc", "@0");', "{pass}"),
    ("php literal", "$db = new PDO('mysql:host=db;dbname=app', 'app', '@0');", "{pass}"),
    ("ruby literal", "Octokit::Client.new(access_token: '@0')", "{h40}"),
    ("rust literal", 'let api_key: &str = "@0";', "{A40}"),
    ("powershell secure string", '$pw = ConvertTo-SecureString "@0" -AsPlainText -Force', "{pass}"),
    ("bash variable", 'TOKEN="@0"; curl -H "X-Token: $TOKEN" https://{word}.io', "{A40}"),
    ("log line with a token", "2026-11-02 10:14:55 DEBUG auth: refreshed token=@0 for user 42", "{A48}"),
    ("form body", "grant_type=client_credentials&client_id={a20}&client_secret=@0", "{A40}"),
    ("json answer of a login", '{"access_token":"@0","token_type":"bearer","expires_in":3600}', "{A64}"),
    ("json refresh token", '{"token_type":"Bearer","refresh_token":"@0"}', "{b120}"),
    ("vault unseal key", "Unseal Key 1: @0", "{B44}"),
    ("vault root token", "Initial Root Token: @0", "hvs.{A24}"),
    # As people say them.
    ("login in words", "login: admin\npassword: @0", "{pass}"),
    ("login with a slash", "user {word} / pass @0", "{pass}"),
    ("ssh root in words", "ssh root@10.0.0.{d1}, password is @0", "{pass}"),
    ("german password", "Das Passwort für den Server ist @0", "{pass}"),
    ("german wifi", "WLAN-Schlüssel: @0", "{pass}"),
    ("polish password", "hasło do bazy: @0", "{pass}"),
    ("russian password", "пароль от базы: @0", "{pass}"),
    ("spanish password", "la contraseña es @0", "{pass}"),
    ("french password", "mot de passe : @0", "{pass}"),
    ("portuguese password", "a senha é @0", "{pass}"),
    ("ukrainian password", "пароль до сервера: @0", "{pass}"),
    ("pin in words", "the sudo password on build-{d1} is @0, change it later", "{pass}"),
    ("gmail app password", "gmail app password: @0", "{l4} {l4} {l4} {l4}"),
    ("totp seed in groups", "2fa secret: @0", "{t4} {t4} {t4} {t4} {t4} {t4} {t4} {t4}"),
    ("recovery code", "recovery code: @0", "{a5}-{a5}"),
):  # fmt: skip
    _pattern(_name, _pattern_, *_holes)


# Private keys: their shape is what is tested, so their bodies are drawn.
def _body(rng: Random, lines: int, width: int = 64) -> list[str]:
    return [run(rng, "B", width) for _ in range(lines)] + [run(rng, "B", width // 3) + "=="]


def _pem(label: str, lines: int, head: str = "") -> Maker:
    def make(rng: Random) -> Block:
        body = _body(rng, lines, 70 if label.startswith("OPENSSH") else 64)
        if label.startswith("OPENSSH"):
            body[0] = "b3BlbnNzaC1rZXktdjEAAAAA" + body[0][24:]
        dashes = "-" * 5
        top, end = f"{dashes}BEGIN {label}{dashes}", f"{dashes}END {label}{dashes}"
        return _of("\n".join([top, *([head, ""] if head else []), *body, end]), *body)

    return make


_PGP = "PGP PRIVATE KEY " + "BLOCK"
for _name, _label, _lines, _head in (
    ("rsa private key", "RSA PRIVATE KEY", 24, ""),
    ("rsa private key, encrypted", "RSA PRIVATE KEY", 24, "Proc-Type: 4,ENCRYPTED"),
    ("ec private key", "EC PRIVATE KEY", 3, ""),
    ("dsa private key", "DSA PRIVATE KEY", 9, ""),
    ("pkcs8 private key", "PRIVATE KEY", 25, ""),
    ("pkcs8 encrypted", "ENCRYPTED PRIVATE KEY", 26, ""),
    ("openssh private key", "OPENSSH PRIVATE KEY", 5, ""),
    ("pgp private key", _PGP, 20, "Version: GnuPG v2"),
    ("ssh2 private key", "SSH2 ENCRYPTED PRIVATE KEY", 8, ""),
):
    ALL[_name] = _pem(_label, _lines, _head)


@_called("private key in one line")
def _one_line(rng: Random) -> Block:
    body = _body(rng, 8)
    dashes = "-" * 5
    key = "\\n".join(
        [f"{dashes}BEGIN PRIVATE KEY{dashes}", *body, f"{dashes}END PRIVATE KEY{dashes}"]
    )
    return _of(f'PRIVATE_KEY="{key}\\n"', *body)


@_called("private key cut off before its end")
def _cut(rng: Random) -> Block:
    block = _pem("RSA PRIVATE KEY", 12)(rng)
    return Block("\n".join(block.text.split("\n")[:9]), block.secrets[:8])


@_called("private key indented in yaml")
def _indented(rng: Random) -> Block:
    block = _pem("OPENSSH PRIVATE KEY", 5)(rng)
    lines = "\n".join(f"    {line}" for line in block.text.split("\n"))
    return _of(f"deploy_key: |\n{lines}\nuser: git", *block.secrets)


@_called("base64 of a private key")
def _pem_in_base64(rng: Random) -> Block:
    value = b64(_pem("RSA PRIVATE KEY", 12)(rng).text.encode())
    return _of(f"SSH_KEY_B64={value}", value)


@_called("google service account")
def _service_account(rng: Random) -> Block:
    body = _body(rng, 24)
    dashes = "-" * 5
    key = "\n".join(
        [f"{dashes}BEGIN PRIVATE KEY{dashes}", *body, f"{dashes}END PRIVATE KEY{dashes}\n"]
    )
    account = {
        "type": "service_account",
        "project_id": f"{draw.word(rng)}-{run(rng, 'd', 6)}",
        "private_key_id": run(rng, "h", 40),
        "private_key": key,
        "client_email": "ci@project.iam.gserviceaccount.com",
        "token_uri": "https://oauth2.googleapis.com/token",
    }
    return _of(json.dumps(account, indent=2), *body)


@_called("jwk")
def _jwk(rng: Random) -> Block:
    d = run(rng, "b", 43)
    key = {"kty": "EC", "crv": "P-256", "x": run(rng, "b", 43), "y": run(rng, "b", 43), "d": d}
    return _of(json.dumps(key), d)


@_called("putty key")
def _putty(rng: Random) -> Block:
    private = _body(rng, 3)
    text = "\n".join(
        [
            "PuTTY-User-Key-File-3: ssh-ed25519",
            "Encryption: none",
            "Comment: laptop",
            "Public-Lines: 2",
            *_body(rng, 1),
            "Private-Lines: 4",
            *private,
            f"Private-MAC: {run(rng, 'h', 64)}",
        ]
    )
    return _of(text, *private)


@_called("minisign key")
def _minisign(rng: Random) -> Block:
    key = "RWRTY0Iy" + run(rng, "B", 204)
    return _of(f"untrusted comment: minisign encrypted secret key\n{key}", key)


@_called("openvpn static key")
def _openvpn(rng: Random) -> Block:
    body = [run(rng, "h", 32) for _ in range(16)]
    dashes, name = "-" * 5, "OpenVPN Static key V1"
    text = "\n".join([f"{dashes}BEGIN {name}{dashes}", *body, f"{dashes}END {name}{dashes}"])
    return _of(text, *body)


@_called("age key file")
def _age(rng: Random) -> Block:
    key = fill(rng, "AGE-SECRET-KEY-1{Q58}")
    return _of(f"# created: 2026-03-01\n# public key: {fill(rng, 'age1{q58}')}\n{key}", key)


@_called("docker config")
def _docker(rng: Random) -> Block:
    auth = b64(f"{draw.word(rng)}:{run(rng, 'A', 24)}".encode())
    config = {"auths": {"https://index.docker.io/v1/": {"auth": auth}}}
    return _of(json.dumps(config, indent="\t"), auth)


@_called("k8s secret")
def _k8s(rng: Random) -> Block:
    values = [b64(draw.password(rng).encode()), b64(run(rng, "A", 40).encode())]
    text = (
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app-secrets\ntype: Opaque\ndata:\n"
        f"  db-password: {values[0]}\n  token: {values[1]}"
    )
    return _of(text, *values)


@_called("kubeconfig client key")
def _kubeconfig(rng: Random) -> Block:
    key = b64(_pem("EC PRIVATE KEY", 3)(rng).text.encode())
    text = f"users:\n- name: admin\n  user:\n    client-key-data: {key}"
    return _of(text, key)


@_called("basic header of a real login")
def _basic(rng: Random) -> Block:
    value = b64(f"api:{draw.password(rng)}".encode())
    return _of(f"GET /v1/users HTTP/1.1\nHost: api.acme.dev\nAuthorization: Basic {value}", value)


@_called("jwt wrapped by a mail program")
def _wrapped(rng: Random) -> Block:
    token = draw.jwt(rng, sub=draw.uuid(rng), scope="read write", iss="https://auth.acme.dev")
    lines = [token[i : i + 72] for i in range(0, len(token), 72)]
    return _of("the token:\n" + "\n".join(lines), *[line for line in lines if len(line) > 30])


@_called("seed phrase")
def _seed(rng: Random) -> Block:
    words = "abandon ability able about above absent absorb abstract absurd abuse access accident"
    phrase = " ".join(rng.choices(words.split(), k=12))
    return _of(f"seed phrase: {phrase}", phrase)


@_called("list of recovery codes")
def _codes(rng: Random) -> Block:
    codes = [f"{run(rng, 'h', 5)}-{run(rng, 'h', 5)}" for _ in range(8)]
    return _of("GitHub recovery codes:\n" + "\n".join(codes), *codes)


@_called("id_ed25519 by its path")
def _by_path(rng: Random) -> Block:
    block = _pem("OPENSSH PRIVATE KEY", 5)(rng)
    return Block(f"$ cat ~/.ssh/id_ed25519\n{block.text}\n$", block.secrets)


@_called("two secrets in one message")
def _two(rng: Random) -> Block:
    stripe, mail = fill(rng, "sk_live_{A24}"), fill(rng, "SG.{b22}.{b43}")
    return _of(f"stripe is {stripe} and for mail we use {mail}, both live", stripe, mail)


@_called("many settings at once")
def _env(rng: Random) -> Block:
    values = [fill(rng, p) for p in ("{pass}", "{A40}", "{h64}", "{B43}=")]
    text = (
        "# production\nDEBUG=false\nPORT=8080\n"
        f"DATABASE_PASSWORD={values[0]}\nMAPS_API_KEY={values[1]}\nLOG_LEVEL=info\n"
        f"JWT_SECRET={values[2]}\nCOOKIE_KEY='{values[3]}'\nTZ=Europe/Berlin"
    )
    return _of(text, *values)

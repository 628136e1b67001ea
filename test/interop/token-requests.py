"""Writes token-requests.json: the requests for tokens that msal and google-auth send, without what differs between clients.

The file is in the repository, so tests do not need the libraries. To write it again:
pip install msal google-auth; python3 test/interop/token-requests.py
"""

import base64
import json
import os
import pathlib
import urllib.parse

import msal
import google.auth.transport
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import impersonated_credentials
from google.oauth2 import credentials as user_credentials, service_account

TENANT, CLIENT, SECRET = "11111111-2222-3333-4444-555555555555", "66666666-7777-8888-9999-000000000000", "se/cr+et="
SCOPE = "https://cognitiveservices.azure.com/.default"
RESOURCE = "https://cognitiveservices.azure.com"
CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform"
AUDIENCE = "https://service.example.run.app"
ANSWER = {"access_token": "token", "expires_in": 3600, "id_token": "x.e30.x", "token_type": "Bearer", "accessToken": "token", "expireTime": "2099-01-01T00:00:00Z", "token": "x.e30.x"}
# Members of forms, queries and headers that are not part of the documented call.
OWN = ("client_info", "client-request-id", "x-client", "x-ms-", "x-goog-api-client", "x-app", "user-agent", "accept", "content-type", "iat", "exp")


def essential(fields):
    return {name: value for name, value in sorted(fields.items()) if not name.lower().startswith(OWN)}


def decoded(form):
    """A signed assertion, as its claims."""
    if "assertion" in form:
        part = form["assertion"].split(".")[1]
        form = {**form, "assertion": essential(json.loads(base64.urlsafe_b64decode(part + "==")))}
    return form


def record(method, url, headers, body):
    parts = urllib.parse.urlsplit(url)
    text = body.decode() if isinstance(body, bytes) else body
    if isinstance(text, str) and text.startswith("{"):
        text = json.loads(text)
    elif isinstance(text, str):
        text = dict(urllib.parse.parse_qsl(text))
    seen.append({
        "method": method,
        "url": f"{parts.scheme}://{parts.netloc}{parts.path}",
        "query": dict(urllib.parse.parse_qsl(parts.query)),
        "headers": essential({name.lower(): value for name, value in (headers or {}).items()}),
        "form": decoded(essential(text or {})),
    })


class Reply:
    status_code, text, headers = 200, json.dumps(ANSWER), {}


class Recorder:
    """The HTTP client of msal."""

    def post(self, url, params=None, data=None, headers=None, **_):
        record("POST", url, headers, urllib.parse.urlencode(data) if isinstance(data, dict) else data)
        return Reply()

    def get(self, url, params=None, headers=None, **_):
        if url.endswith("/.well-known/openid-configuration"):
            reply = Reply()
            base = "https://login.microsoftonline.com/" + TENANT + "/oauth2/v2.0"
            reply.text = json.dumps({"authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token", "issuer": base})
            return reply
        record("GET", url + ("?" + urllib.parse.urlencode(params) if params else ""), headers, None)
        return Reply()

    def close(self):
        pass


class GoogleReply(google.auth.transport.Response):
    status, headers, data = 200, {"content-type": "application/json"}, json.dumps(ANSWER).encode()


def google_request(url, method="GET", body=None, headers=None, **_):
    record(method, url, headers, body)
    return GoogleReply()


def client(credential):
    authority = f"https://login.microsoftonline.com/{TENANT}"
    app = msal.ConfidentialClientApplication(CLIENT, credential, authority, http_client=Recorder(), instance_discovery=False)
    app.acquire_token_for_client([SCOPE])


def identity(kind, environment=()):
    os.environ.update(environment)
    msal.ManagedIdentityClient(kind, http_client=Recorder()).acquire_token_for_client(resource=RESOURCE)
    for name, _ in environment:
        del os.environ[name]


key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
account = {"type": "service_account", "client_email": "robot@project.iam.gserviceaccount.com", "private_key": pem, "private_key_id": "k1", "token_uri": "https://oauth2.googleapis.com/token"}
user = {"client_id": "user-client", "client_secret": "user-secret", "refresh_token": "refresh", "token_uri": "https://oauth2.googleapis.com/token"}


def refreshed(credentials):
    try:
        credentials.refresh(google_request)
    except Exception as error:  # The answers are no real tokens.
        if not seen:
            raise error


def impersonated():
    source = user_credentials.Credentials(None, **user)
    return impersonated_credentials.Credentials(source, "target@project.iam.gserviceaccount.com", [CLOUD_PLATFORM])


APP_SERVICE = (("IDENTITY_ENDPOINT", "http://127.0.0.1:41500/msi/token"), ("IDENTITY_HEADER", "header-secret"))
CASES = {
    "cloudTwo: secret": lambda: client(SECRET),
    "cloudTwo: federated token": lambda: client({"client_assertion": "federated.token"}),
    "cloudTwo: managed identity of the machine": lambda: identity(msal.SystemAssignedManagedIdentity()),
    "cloudTwo: client id": lambda: identity(msal.UserAssignedManagedIdentity(client_id=CLIENT)),
    "cloudTwo: object id": lambda: identity(msal.UserAssignedManagedIdentity(object_id="object")),
    "cloudTwo: resource id": lambda: identity(msal.UserAssignedManagedIdentity(resource_id="/subscriptions/s/id")),
    "cloudTwo: App Service": lambda: identity(msal.UserAssignedManagedIdentity(resource_id="/subscriptions/s/id"), APP_SERVICE),
    "cloudThree: access token of a service account": lambda: refreshed(service_account.Credentials.from_service_account_info(account, scopes=[CLOUD_PLATFORM])),
    "cloudThree: ID token of a service account": lambda: refreshed(service_account.IDTokenCredentials.from_service_account_info(account, target_audience=AUDIENCE)),
    "cloudThree: access token of a user": lambda: refreshed(user_credentials.Credentials(None, **user)),
    "cloudThree: impersonation": lambda: refreshed(impersonated()),
}

recorded = {}
for name, run in CASES.items():
    seen = []
    run()
    recorded[name] = seen
libraries = {"msal": msal.__version__, "google-auth": google.auth.__version__}
text = json.dumps({"libraries": libraries, "requests": recorded}, indent=2)
(pathlib.Path(__file__).parent / "token-requests.json").write_text(text + "\n")

"""Writes signatures.json: requests with the signatures that botocore computes for them.

The file is in the repository, so tests do not need botocore. To write it again: pip install botocore; python3 test/interop/signatures.py
"""

import datetime
import json
import pathlib

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials

TIME = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
KEYS = {"accessKey": "AKIDEXAMPLE", "secretKey": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
TEMPORARY = {**KEYS, "sessionToken": "FwoGZXIvYXdzEXAMPLE//////token=="}
HOST = "service.us-east-1.amazonaws.com"

CASES = [
    ("no body", {}),
    ("a body", {"method": "POST", "body": '{"a":1}', "headers": {"content-type": "application/json"}}),
    ("a body that is not ASCII", {"method": "PUT", "body": "Grüße \u2713"}),
    ("temporary keys", {"keys": TEMPORARY}),
    ("another region", {"service": "execute-api", "region": "eu-central-1", "host": "abc.execute-api.eu-central-1.amazonaws.com"}),
    ("a port in the host", {"host": "127.0.0.1:4566"}),
    ("parameters in another order", {"target": "/?b=2&a=1&a=0&B=3"}),
    ("a parameter without a value", {"target": "/?acl=&versions="}),
    ("escapes in parameters", {"target": "/?k%2Fey=va%20l%3Due&x=~"}),
    ("escapes in the path", {"target": "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Afoundation-model%2Fm/converse"}),
    ("a colon in the path", {"target": "/model/anthropic.claude-v1:0/invoke", "method": "POST", "body": "{}", "service": "bedrock"}),
    ("unreserved characters in the path", {"target": "/-._~/A"}),
    ("empty segments in the path", {"target": "//a//b/"}),
    ("own fields of the service", {"headers": {"x-amz-target": "DynamoDB_20120810.ListTables", "content-type": "application/x-amz-json-1.0", "x-amzn-bedrock-trace": "ENABLED"}, "method": "POST", "body": "{}", "service": "dynamodb"}),
    ("dot segments in the path", {"target": "/a/./b/../c"}),
    ("a dot segment at the end", {"target": "/a/b/.."}),
    ("more dot segments than others", {"target": "/../../a/"}),
    ("escapes that are not ASCII", {"target": "/gr%C3%BC%C3%9Fe?na%C3%AFve=%E2%9C%93"}),
    ("escapes in lower case in the path", {"target": "/a%2fb/%c3%bc"}),
    ("a plus in the path", {"target": "/a+b,c;d=e@f!$&'()*"}),
    ("names of parameters alone", {"target": "/?versions&acl"}),
    ("equal names of parameters", {"target": "/?a=2&a=10&a=&A=1&a-b=1&a=1"}),
    ("an escaped plus, ampersand and percent sign in a parameter", {"target": "/?a=%2B%26%25&b=%25zz"}),
    ("a tab and spaces around values", {"headers": {"x-amz-meta-note": "  a  b  ", "x-amz-meta-empty": ""}}),
    ("fields that sort by their whole names", {"headers": {"x-amz-meta-a-b": "1", "x-amz-meta-a": "2", "x-amz-meta-ab": "3"}}),
    ("spaces in values", {"headers": {"x-amz-meta-note": "a  b   c"}}),
    ("S3, an object", {"service": "s3", "target": "/bucket/a%20b/c.txt?versionId=1"}),
    ("S3, a dot and an empty segment", {"service": "s3", "target": "/bucket//a./b"}),
    ("S3, dot segments", {"service": "s3", "target": "/bucket/a/../b/./c"}),
    ("S3, escapes", {"service": "s3", "target": "/bucket/%2B%20%3D%26?prefix=a%2Fb&delimiter=%2F&list-type=2"}),
    ("S3, an unsigned body", {"service": "s3", "method": "PUT", "target": "/bucket/key", "body": "content", "keys": TEMPORARY}),
]


def signed(name, case):
    method, service, region = case.get("method", "GET"), case.get("service", "service"), case.get("region", "us-east-1")
    host, target, keys = case.get("host", HOST), case.get("target", "/"), case.get("keys", KEYS)
    request = AWSRequest(
        method=method,
        url=f"https://{host}{target}",
        headers={"host": host, **case.get("headers", {})},
        data=case.get("body", "").encode(),
    )
    request.context["client_config"] = Config(s3={"payload_signing_enabled": False})
    request.context["has_streaming_input"] = True
    credentials = Credentials(keys["accessKey"], keys["secretKey"], keys.get("sessionToken"))
    auth = botocore.auth.S3SigV4Auth if service == "s3" else botocore.auth.SigV4Auth
    auth(credentials, service, region).add_auth(request)
    return {
        "name": name,
        "method": method,
        "host": host,
        "target": target,
        "headers": case.get("headers", {}),
        "body": case.get("body", ""),
        "scope": {"service": service, "region": region},
        "keys": keys,
        "sent": {key.lower(): value for key, value in request.headers.items() if key.lower().startswith(("x-amz-", "auth"))},
    }


botocore.auth.get_current_datetime = lambda: TIME
cases = [signed(*case) for case in CASES]
text = json.dumps({"botocore": botocore.__version__, "timeMs": int(TIME.timestamp() * 1000), "cases": cases}, indent=2, ensure_ascii=False)
(pathlib.Path(__file__).parent / "signatures.json").write_text(text + "\n")

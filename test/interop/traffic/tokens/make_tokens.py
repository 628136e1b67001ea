"""Makes a key set and tokens with PyJWT: reads an order from standard input, prints what it made."""

import json
import secrets
import sys

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

CURVES = {"ES256": ec.SECP256R1, "ES384": ec.SECP384R1, "ES512": ec.SECP521R1}


def generate(alg):
    if alg in CURVES:
        return ec.generate_private_key(CURVES[alg]())
    if alg == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    if alg.startswith("HS"):
        return secrets.token_bytes(64)
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


order = json.load(sys.stdin)
keys, published, tokens = {}, [], {}
for key in order["keys"]:
    kid, alg = key["kid"], key["alg"]
    made = keys[kid] = generate(alg)
    public = made if isinstance(made, bytes) else made.public_key()
    jwk = get_default_algorithms()[alg].to_jwk(public, as_dict=True)
    published.append({**jwk, "kid": kid, "alg": alg, "use": "sig", "key_ops": ["verify"]})
for token in order["tokens"]:
    headers = {} if token["kid"] is None else {"kid": token["kid"]}
    key = keys.get(token["key"])
    tokens[token["name"]] = jwt.encode(token["claims"], key, algorithm=token["alg"], headers=headers)
json.dump({"keySet": {"keys": published}, "tokens": tokens}, sys.stdout)

package gateway

import rego.v1

http := input.attributes.request.http

default decision := {"allow": false, "status": 403, "body": "not here\n", "headers": {"x-why": "no rule"}}

# The tenant comes from the gateway's context extensions, the user from the claims that it verified.
decision := {
	"allow": true,
	"headers": {"x-user": claims.sub, "x-tenant": input.attributes.contextExtensions.tenant},
	"remove": ["x-secret"],
	"response_headers": {"x-decided-by": "rego"},
	"metadata": {"tier": "gold", "groups": claims.groups},
} if {
	http.method == "GET"
	startswith(http.path, "/rego/users/")
	claims.sub == split(split(http.path, "?")[0], "/")[3]
}

claims := input.attributes.metadataContext.filterMetadata["envoy.filters.http.jwt_authn"].jwt_payload

# What the body says.
decision := {"allow": true, "headers": {"x-amount": sprintf("%d", [order.amount])}} if {
	http.method == "POST"
	order.amount <= 100
}

decision := {"allow": false, "status": 402, "body": "too much\n"} if {
	http.method == "POST"
	order.amount > 100
}

order := json.unmarshal(http.body)

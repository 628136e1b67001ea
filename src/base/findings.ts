/**
 * Codes of problems with files and objects, by subject, each with its meaning. docs/behaviour/findings.md lists them. Codes are public
 * and stable: never rename one. The code names the kind of problem; the message of a finding describes the problem and how
 * to fix it.
 */
export const FINDINGS = {
  file: {
    title: 'Files and objects',
    codes: {
      'file-missing': 'The path after `-f`, of an entry of `dataFrom` or of `GATEWRIGHT_PRICES` does not exist.',
      'file-unreadable': 'The file or folder cannot be read.',
      'file-too-large': 'The file of an entry of `dataFrom` is too large.',
      'variable-missing': 'The environment variable of an entry of `dataFrom` is not set, or empty.',
      'not-substituted':
        'The value is only the name of a variable, as in shell scripts; the gateway does not replace it.',
      'certificate-pair': 'The certificate and the key that `dataFrom` names do not form a usable pair.',
      'files-only': 'The field is allowed only in local files.',
      'invalid-yaml': 'The text is not valid YAML or JSON.',
      'not-an-object': 'The document is not a mapping with `apiVersion`, `kind` and `metadata`.',
      'unknown-kind': 'The gateway does not read objects of this kind.',
      'unknown-version': 'The gateway does not read this version of the kind.',
      'duplicate-object': 'Another object has the same kind, namespace and name; this one is ignored.',
      'policy-not-applied':
        'The ProxyPolicy has errors and no earlier valid version: its targets are served without it, because none of its fields protects them.',
      'policy-refuses':
        'The policy has errors and may protect its targets: a gateway without an earlier valid version, as after a start, refuses all requests to them.',
      'policy-targets-unknown':
        'The policy has errors and may protect its targets, but not all of them can be determined: a gateway that starts with it does not become ready.',
      'file-never-valid':
        'No version of the file could be read: its policies cannot be loaded, and a gateway that starts with it does not become ready.',
      'kind-not-served':
        'A Kubernetes API serves no version of a kind that the gateway reads: there are no objects of it until the API does.',
      'api-unreadable':
        'A Kubernetes API cannot be reached, or denies access to objects; what was read before stays in force.',
      'secret-not-read':
        'An object refers to a Secret outside of the namespaces that the gateway reads; the Secret counts as missing.',
      'translation-failed':
        'A bug of the gateway stopped the translation of the object. Its previous version stays in force; without one, what it protects refuses all requests. Other objects are not affected.',
    },
  },
  field: {
    title: 'Values of fields',
    codes: {
      'wrong-type': 'The value does not have the type of the field.',
      required: 'A required field is missing.',
      'unknown-field':
        "The object has no field of this name. An object of the gateway's own kinds is refused, and so is one of the Gateway API in a file if the mistake is certain; others, which may be of a newer version, are used without the field.",
      'unknown-value': 'The value is not one of the allowed values.',
      'out-of-range': 'The number is too small or too large.',
      'too-short': 'The text is too short.',
      'too-long': 'The text is too long.',
      'too-few-items': 'The list or map has too few items.',
      'too-many-items': 'The list or map has too many items.',
      duplicate: 'Two items of a list have the same value, or the same key.',
      'invalid-duration': 'The text is not a duration, such as `1m30s`.',
      'invalid-byte-size': 'The text is not a size in bytes, such as `64Ki`.',
      'invalid-header-name': 'The text is not a valid header name.',
      'invalid-server-name': 'The text is not a valid TLS server name.',
      'invalid-section-name': 'The text is not a valid section name, such as the name of a listener or rule.',
      'invalid-name': 'The text is not a valid object name.',
      'invalid-namespace': 'The text is not a valid namespace name.',
      'invalid-host': 'The text is not a host name or an IP address.',
      'invalid-path': 'The text is not a valid request path.',
      'invalid-uri': 'The text is not an absolute URI, such as `spiffe://example.org/shop`.',
      'invalid-origin': 'The text is not an origin, such as `https://app.example.com`.',
      'invalid-region': 'The text is not a valid region name.',
      'invalid-identifier': 'The text is not a valid identifier for the provider.',
      'invalid-pattern': 'The text is not a regular expression in RE2 syntax.',
      'invalid-variable-name': 'The text is not a valid name of an environment variable.',
      'invalid-base64': 'The text is not base64.',
      'invalid-quantity': 'The text is not a Kubernetes quantity.',
      'exactly-one-of': 'Exactly one of several fields must be set.',
      'at-least-one-of': 'At least one of several fields must be set.',
      'at-most-one-of': 'At most one of several fields may be set.',
      'conditional-exclusive': '`conditional` is set together with other fields of the policy.',
      'conditional-order': 'An entry of `conditional` without a condition is not the last one.',
      'not-together': 'Two mutually exclusive fields are set.',
      inconsistent: 'The values of several fields contradict each other.',
    },
  },
  expression: {
    title: 'Expressions',
    codes: {
      'cel-too-long': 'The text of the expression is too long.',
      'cel-too-deep': 'The expression is nested too deeply.',
      'cel-syntax': 'The text is not CEL.',
      'cel-literal': 'A literal is malformed or out of range.',
      'cel-macro': 'The arguments of a macro call are invalid.',
      'cel-undeclared': 'No variable or function has this name.',
      'cel-unavailable': 'The variable exists, but not where this expression is evaluated.',
      'cel-unknown-field': 'The value has no member of this name.',
      'cel-no-overload': 'The function or operator does not take arguments of these types.',
      'cel-type-mismatch': 'Operands or branches that must have the same type have different types.',
      'cel-unexpected-type': 'The result does not have the type that the field requires.',
      'cel-invalid-pattern': 'A constant regular expression is not in RE2 syntax.',
      'cel-constant': 'A constant argument is invalid, so the call always fails.',
      'cel-never-equal':
        'A variable is compared with a text that it never has, such as a path without a slash: the comparison always has the same result.',
      'cel-never-true': 'Conditions that are joined by `&&` exclude each other, so they are never true.',
      'cel-always-fails': 'A part of the expression fails in every evaluation.',
      'deny-can-fail': 'The evaluation of a Deny rule can fail, and then the rule does not deny.',
      'rule-on-client-field': 'A client can change the result of the rule by sending a list of values in a header.',
      'rule-hides-kind':
        'A rule for MCP tools, prompts, resources or tasks fails for items of other kinds, and hides them.',
      'mcp-name-unknown':
        'A rule compares the target of an MCP item with one that does not exist, or its name with one that only clients use.',
    },
  },
  // Only the broken reference itself is reported, not its consequences elsewhere.
  reference: {
    title: 'References to other objects',
    codes: {
      'backend-not-found': 'The backend does not exist.',
      'backend-kind-unknown': 'Objects of this kind are not backends.',
      'backend-port-missing': 'A reference to a Service has no port.',
      'backend-port-unknown': 'The Service does not have this port.',
      'backend-takes-requests': 'A TCPRoute or TLSRoute refers to a backend that takes requests, not connections.',
      'mirror-guarded': 'A `RequestMirror` filter refers to a backend with prompt guards; no request is copied to it.',
      'object-refused': 'The object exists, but its own errors keep it out of use. `lint` prints only those errors.',
      'reference-not-permitted': 'No ReferenceGrant permits the reference to another namespace.',
      'key-set-backend': 'Key sets cannot be fetched from a backend of this type.',
      'secret-not-found': 'The Secret does not exist.',
      'secret-key-missing': 'The Secret does not have the required entry.',
      'config-map-not-found': 'The ConfigMap does not exist.',
      'config-map-key-missing': 'The ConfigMap does not have the required entry.',
      'selector-matches-nothing': 'The selector matches no object.',
      'selector-invalid': 'The selector is missing or invalid.',
    },
  },
  gateway: {
    title: 'Gateways and listeners',
    codes: {
      'no-gateway': 'No Gateway has a class of this controller, so no port is open.',
      'gateway-class-not-found': 'The GatewayClass does not exist, so no controller serves the Gateway.',
      'address-not-usable': 'The Gateway cannot have this address.',
      'parameters-invalid': 'The parameters of a Gateway or GatewayClass cannot be used.',
      'deployment-blocked':
        'An object that somebody else owns, or a session key that cannot be used, prevents the deployment of the proxy of the Gateway.',
      'image-not-ready':
        'The proxies of the Gateway are not ready with the new default image, so other Gateways keep their image.',
      'parameters-only-on-kubernetes': 'The parameter takes effect only on Kubernetes.',
      'listener-protocol': 'The protocol of the listener, or a setting for it, is not supported.',
      'listener-port-reserved': 'The gateway itself uses the port.',
      'listener-protocol-conflict': 'Another listener uses the port with a protocol that cannot share it.',
      'listener-hostname-conflict': 'Another listener of the port has the same hostname.',
      'listener-certificate': 'The listener has no usable certificate.',
      'certificate-awaited': 'The Secret does not exist yet; the gateway requests its certificate from an ACME server.',
      'certificate-not-issued': 'An ACME server did not issue a certificate; the message has its reason.',
      'acme-not-possible': 'The gateway cannot request the certificate from an ACME server.',
      'certificate-expired': 'A certificate that is used, or an authority, is not valid at this time.',
      'certificate-expires': 'A certificate that is used, or an authority, expires soon.',
      'certificate-hostname': 'No certificate of the listener is valid for its hostname.',
      'listener-client-authority': 'The certificate authorities for client certificates cannot be used.',
      'listener-route-kinds': 'The listener allows a kind of route that it cannot serve.',
      'forwarded-headers-unset': 'Clients can spoof X-Forwarded-For and related headers.',
      'listener-set-not-allowed': 'The Gateway allows no ListenerSets from this namespace.',
    },
  },
  route: {
    title: 'Routes',
    codes: {
      'parent-not-found': 'The Gateway or ListenerSet of `parentRefs` does not exist.',
      'parent-not-matching': 'The parent has no listener that matches `parentRefs`, or the listener is not served.',
      'parent-not-allowed': 'No listener of the parent allows this route.',
      'parent-hostname': 'No listener of the parent serves a hostname of this route.',
      'parent-route-conflict':
        'An HTTPRoute and a GRPCRoute have a common hostname at a listener; only one of them is attached.',
      'route-shadowed': 'Other rules match all requests or connections of this rule and take precedence.',
      'hostname-not-served': 'No listener of the route serves this hostname; the others of the route are served.',
      'match-impossible': 'No request can have this path or header value, so nothing matches.',
      'filters-incompatible': 'The filters of a rule cannot be combined.',
      'filter-value': 'The filter, or its value, is not supported.',
      'route-refuses':
        'The HTTPRoute or GRPCRoute refuses all requests that its rules match: it has errors and no earlier valid version, as after a start, or its name is already in use.',
      'route-matches-unknown':
        'The route has errors, and not all requests that it matches can be determined, because a match, hostname or parent has mistakes: a gateway that starts with it does not become ready.',
    },
  },
  target: {
    title: 'Targets of policies',
    codes: {
      'target-not-allowed': 'A policy with these settings cannot be attached to this kind of target.',
      'target-kinds-mixed': 'The targets of a policy are of different kinds.',
      'phase-not-allowed': 'The setting is not allowed in this phase.',
      'target-not-found': 'The target does not exist.',
      'target-not-attached': 'The target is not attached to a Gateway of this controller.',
      'target-section-unknown': 'The target has no section of this name.',
      'target-selects-nothing': 'The target selector matches no object.',
      'overridden-by-tie': 'Another policy of the same level takes precedence.',
      'overridden-in-part': 'A setting with higher precedence overrides a part of this one, which has no effect there.',
    },
  },
  setting: {
    title: 'Settings of policies and backends',
    codes: {
      'audience-any': 'A JWT provider has no `audiences`, so tokens for other services are accepted, too.',
      'sign-in-incomplete':
        'With `jwtAuthentication.mcp`, clients do not get everything that they need to sign in: an issuer, the resource or a scope is not usable, or only the first of several providers is announced.',
      'fails-open': 'Requests pass without authorization, or without a limit, while the external server fails.',
      'identity-unused':
        'An authentication policy admits requests without a credential, and no other policy uses the identity.',
      'protection-weakened':
        'An authentication policy that requires no credential overrides a wider one that requires one.',
      'secret-missing': 'The Secret, or its entry, does not exist; requests are refused.',
      'credential-invalid': 'The credential cannot be sent; requests are refused.',
      'credential-unavailable': 'A cloud credential cannot be obtained; requests are refused until it can.',
      'token-expired': 'A token in a Secret that is used is not valid at this time.',
      'token-expires': 'A token in a Secret that is used expires soon.',
      'credential-stale': 'A cloud credential cannot be renewed; the last one stays in use until it expires.',
      'credential-incomplete':
        'The configuration does not determine everything that the credential needs; requests are refused.',
      'credential-not-removed':
        'The credential is read by an expression, so the gateway cannot remove it from the request.',
      'credential-in-plain-text': 'A credential is sent to a backend without TLS.',
      'cache-key-shared': 'The cache key does not distinguish callers: the decision for one caller applies to all.',
      'credential-for-any-destination':
        'A credential is sent to every server that a client names (`dynamicForwardProxy`).',
      'backend-without-address':
        'A policy uses a `dynamicForwardProxy` backend as its server, but such a backend has no address of its own.',
      'service-port-expects-tls':
        'The `appProtocol` of a Service port means TLS, but requests are sent to it in plain text.',
      'open-forward-proxy':
        'Clients can reach any server through a `dynamicForwardProxy` backend, because nothing restricts who they are.',
      'failover-without-retry':
        'A request that fails in one priority group is not sent to the next, because its route has no `retry`.',
      'fallback-unreachable':
        'No request reaches a priority group: its routes make too few retries, and no endpoint before it is ever evicted.',
      'open-beside-protected':
        'A rule is open to everyone, while another rule for the same host restricts its clients.',
      'credential-over-http': 'Clients send a credential to a listener without TLS.',
      'field-deprecated': 'The field is deprecated; another one replaces it.',
      'mcp-service-named':
        'A target names a Service of MCP servers; a selector would also find those that are added later.',
      'credential-in-object':
        'A credential is written in the object itself, where everybody who can read the object can read it.',
      'credentials-share-location': 'Two policies check different credentials at the same location of a request.',
      'tunnel-backend': 'The backend cannot be the proxy server of a tunnel.',
      'certificate-missing': 'The certificates for TLS to the backend are missing or invalid.',
      'api-key-entry-invalid': 'An entry of a Secret with API keys cannot be used.',
      'api-key-duplicate': 'Several entries have the same API key.',
      'htpasswd-line-invalid': 'A line with a user and a password hash cannot be used; the user is refused.',
      'htpasswd-user-duplicate': 'A user has several lines; the last one applies.',
      'key-set-fault': 'Some keys of the key set cannot be used.',
      'key-set-unusable': 'No key of the key set can be used; all tokens are refused.',
      'key-set-not-fetched': 'The key set has not been fetched yet; all tokens are refused.',
      'key-set-stale': 'The last fetch of the key set failed; the last valid key set stays in use.',
      'cors-no-origin': 'The CORS policy allows no origin.',
      'cors-any-origin-with-credentials': 'The CORS policy allows every origin to send credentials.',
      'host-invalid': 'The text is not a valid hostname for requests; requests are refused.',
      'header-invalid': 'The name or value is not valid in a header.',
      'invalid-attribute': 'The name is not a valid name for an access log field.',
      'invalid-label': 'The name is not a valid name for a metric label.',
      'no-fallback': '`conditional` has no fallback, which is a last entry without a condition.',
      'limit-key-can-fail': 'The key of a rate limit may be missing; requests without it share one limit.',
      'limit-key-from-client': 'Clients control the key of a rate limit, so they can evade the limit with new values.',
      'limit-key-changes': 'The key of a rate limit differs between requests of the same caller, so it limits nothing.',
      'limit-descriptor-can-fail':
        'An expression of a descriptor of a global rate limit can fail; the descriptor does not limit such requests.',
      'proxy-protocol-unrestricted': 'Any client that can connect can claim any source address.',
      'alias-empty': 'A model alias maps to an empty name.',
      'guard-not-applied':
        'Requests of this type or to this provider, or their answers, are not guarded; the prompt guard has no effect on them.',
      'guard-not-runnable': 'The prompt guard cannot run; requests are refused.',
      'model-unfit': 'The model name cannot be part of a path; requests are refused with 400.',
      'model-unknown': 'The gateway knows no model of this name; it may be new, or misspelled.',
      'number-inexact': 'The integer is too large to be exact; a different number is sent.',
      'path-invalid': 'The path cannot be sent to the provider or authorization server; requests are refused.',
      'suffix-without-slash': 'A path suffix without a leading `/` also matches inside a path segment.',
      'unsupported-conversion':
        'Requests of this type cannot be sent to the provider; they are refused with 400, unless another provider of the backend takes them.',
    },
  },
  backend: {
    title: 'Services and MCP targets',
    codes: {
      'service-without-endpoints': 'A port of the Service has no ready endpoint.',
      'external-name': 'A DNS name in a Service or EndpointSlice can direct the gateway to any server, or is ignored.',
      'endpoint-link-local': 'A link-local address of a Service or EndpointSlice is ignored.',
      'annotation-value': 'The value of an annotation is invalid; the finding says what applies.',
      'annotation-unknown': 'The annotation is unknown, or not supported on this kind of object; it has no effect.',
      'backend-is-gateway':
        'The backend is the admin server, resource API, metrics or readiness server of the gateway itself.',
      'backend-not-http2': 'An endpoint that is configured for HTTP/2 does not support it.',
      'llm-path-not-completions':
        'Requests for the path of another LLM interface are handled as chat completions, because `routes` is unset.',
      'name-collision': 'Two MCP targets have the same name.',
      'name-invalid': 'The name of a selected Service or port is not a valid name for an MCP target.',
    },
  },
  general: {
    title: 'All kinds of objects',
    codes: {
      'no-effect': 'The object or field has no effect.',
      'proxy-refuses':
        'Proxies of a Gateway cannot use a part of their configuration, because their version is older or has a bug; everything else is in force there.',
      'not-implemented': 'This version does not implement the object, field or variable.',
    },
  },
} as const

export type FindingKind = keyof typeof FINDINGS

export type FindingCode = { [Kind in FindingKind]: keyof (typeof FINDINGS)[Kind]['codes'] }[FindingKind]

export function isFindingCode(code: string): code is FindingCode {
  return Object.values(FINDINGS).some(({ codes }) => Object.hasOwn(codes, code))
}

export function isOfKind(code: FindingCode, kind: FindingKind): boolean {
  return Object.hasOwn(FINDINGS[kind].codes, code)
}

/** What a code means, in one sentence. */
export function meaningOf(code: FindingCode): string {
  for (const { codes } of Object.values(FINDINGS)) {
    if (Object.hasOwn(codes, code)) return (codes as Readonly<Record<string, string>>)[code]!
  }
  throw new Error(`unknown code ${code}`)
}

/** The page of a code, relative to the root of the project. */
export function pageOf(code: FindingCode): string {
  return `docs/findings/${code}.md`
}

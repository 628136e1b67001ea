import type { ScalarName, SchemaNode } from '#schema/node.ts'

/** Leaves for which every value works, each with the reason. */
export const FREE: readonly (readonly [title: RegExp, reason: string])[] = [
  [/^(Pod|Namespace)\./, 'the platform writes and checks these objects; the gateway reads labels and addresses'],
  [
    /^EndpointSlice\.endpoints\[\]\.(hostname|targetRef|nodeName|zone|hints|deprecatedTopology)/,
    'of the platform, which the gateway does not need',
  ],
  [/^EndpointSlice\.ports\[\]\.(name|appProtocol)$/, 'a name; other application protocols are those of other programs'],
  [
    /^Service\.spec\.ports\[\]\.(name|appProtocol|nodePort)$/,
    'a name; other application protocols are those of other programs',
  ],
  [/^Service\.spec\.(?!ports|externalName)/, 'of the platform: the gateway takes endpoints from EndpointSlices'],
  [/^Service\.spec\.ports\[\]\.targetPort$/, 'of the platform: the gateway takes endpoints from EndpointSlices'],
  [/^(Secret|ConfigMap)\.dataFrom\./, 'files read the values before an object is valid; src/store/ tests it'],
  [/^Secret\.(type|stringData)|^ConfigMap\.data/, 'the fields that refer to an entry check it'],
  [/^ReferenceGrant\.spec\./, 'it may permit references of objects that other controllers read'],
  [/\.grpc\.contextExtensions\.entry$/, 'the authorization server decides what it means'],
  [/\.global\.(domain|descriptors\[\]\.entries\[\]\.name)$/, 'the rate limit server decides which it knows'],
  [/(\.tls|BackendTLSPolicy\.spec)\.options\.entry$/, 'no option has an effect, and the gateway says so'],
  [/^GatewayClass\.spec\.description$/, 'text for people'],
  [/^GatewayClass\.spec\.controllerName$/, 'other controllers have classes too'],
  [
    /\.(prompt\.(prepend|append)\[\]\.content|response\.message|directResponse\.body|policy\.body)$/,
    'text that is sent as it is',
  ],
  [/\.ai\.(defaults|overrides|transformations)\[\]\.field$/, 'any name of a JSON member'],
  [/\.ai\.(defaults|overrides)\[\]\.value$/, 'any JSON value'],
  [/\.ai\.modelAliases\.entry$|\.provider[A-Z][a-z]+\.model$/, 'the provider decides which models exist'],
  [/agentRuntime\.qualifier$/, 'the service decides which aliases and versions exist'],
  [
    /\.(deploymentName|projectName|provider(Two|Three)\.apiVersion)$/,
    'the provider decides which exist; it is encoded in the path',
  ],
  [
    /tracing\.(attributes\.(remove\[\]|add\[\]\.name)|resources\[\]\.name)$/,
    'any text can be a key of a span or a resource',
  ],
  [/accessLog\.attributes\.(remove\[\]|add\[\]\.name)$/, 'any text can be a key of a log entry'],
  [/resourceMetadata\.entry$/, 'any JSON can be metadata; what clients of MCP cannot use is reported at the map'],
  [/(mcp|authentication)\.clientId$/, 'the identity provider decides which ids exist'],
  [
    /(jwtAuthentication\.providers\[\]\.(issuer|audiences\[\])|mcp\.authentication\.audiences\[\])$/,
    'claims are any text (RFC 7519, 2, StringOrURI)',
  ],
  [/location\.queryParameter\.name$/, 'any text can be encoded in a query'],
  [/rawConfig\.entry$/, 'a name that is not known is reported, whatever its value (gateways/process-settings.ts)'],
  [/verifySubjectAltNames\[\]$/, 'certificates decide which names exist; a certificate without the name is refused'],
]

/** Values that cannot work, where the schema does not say what they are. The first that matches applies. */
const BAD: readonly (readonly [title: RegExp, value: unknown])[] = [
  [/location\.header\.prefix$|basicAuthentication\.realm$/, 'two\nlines'],
  [/basicAuthentication\.users\[\]$/, 'ann:a password in plain text'],
  [/alpnProtocols\[\]$/, 'x'.repeat(256)],
  [/\.providers?(\[\])?\.path(Prefix)?$|\.static\.path$|jwksPath$/, '/a/../b'],
  [/auth\.key$/, 'two\nlines'],
  [
    /(sessionPersistence|defaultScope|backendTLS|GRPCRoute\.spec\.rules\[\]\.(retry|timeouts)|resourceMetadata\.entry|\.spec\.entry)$/,
    {},
  ],
  [/resolvedRefs$/, 'any'],
  [/selector\.matchLabels\.entry$/, 'no label!'],
  [/regex\.matches\[\]$/, '('],
  [/retry\.attempts$/, -1],
  [/matchExpressions\[\]\.(key|values\[\])$|matchLabels\.entry$/, 'no label!'],
  [
    /(matches\[\]\.(headers|queryParams)\[\]|matches\[\]\.path|forwardHeaderMatches\[\])\.value$|\.method\.(service|method)$/,
    '(',
  ],
  [/\.group$/, 'no.such.group'],
  [/\.kind$/, 'NoSuchKind'],
  [/(Refs?(\[\])?)\.name$/, 'no-such-object'],
  [/\.namespace$/, 'no-such-namespace'],
  [/[rR]efs(\[\])?\.sectionName$/, 'no-such-section'],
  [/[rR]efs?(\[\])?\.port$/, 81],
]

const BY_SCALAR: Readonly<Partial<Record<ScalarName, unknown>>> = {
  Duration: 'soon',
  ByteSize: 'much',
  Quantity: 'much',
  CELExpression: 'no.such.variable',
  DurationOrCEL: 'no.such.variable',
  HTTPHeaderName: 'no header name',
  HeaderName: ':no-such-pseudo-header',
  SNI: 'No server name',
  SectionName: 'No Section',
}

/** A value that cannot work; undefined: the tables have none. */
export function badValue(title: string, node: SchemaNode): unknown {
  const given = BAD.find(([pattern]) => pattern.test(title))
  if (given !== undefined) return given[1]
  if (node.enum !== undefined || node.const !== undefined) return 'NoSuchValue'
  if (node.scalar !== undefined && BY_SCALAR[node.scalar] !== undefined) return BY_SCALAR[node.scalar]
  if (node.type === 'boolean') return 'neither'
  if (node.type === 'integer') return node.minimum === undefined ? (node.maximum ?? 0) + 1 : node.minimum - 1
  if (node.check !== undefined) return ' '
  return node.type === 'string' ? '\n' : undefined
}

import { type SchemaNode, type TSchema, validate } from '#schema/index.ts'
import { type FoundField, objectIn } from './find-field.ts'

/**
 * Examples of values, for the reference: the first whose pattern matches the path of a field. Fields with a default, an enumeration or a
 * scalar type whose examples are all alike need none.
 */
export const EXAMPLES: readonly (readonly [path: RegExp, value: unknown])[] = [
  // Expressions
  [/conditional\.condition$/, 'request.path.startsWith("/admin")'],
  [/networkAuthorization\.policy\.matchExpressions$/, 'cidr("10.0.0.0/8").containsIP(source.address)'],
  [/mcp\.authorization\.policy\.matchExpressions$/, 'mcp.tool.name == "search"'],
  [/matchExpressions$/, 'jwt.group == "admins"'],
  [/metrics\.attributes\.add\.expression$/, 'jwt.team'],
  [/(attributes\.add|resources)\.expression$/, 'request.headers["x-tenant"]'],
  [/accessLog\.filter$|unhealthyCondition$/, 'response.code >= 500'],
  [/randomSampling$|clientSampling$/, '0.1'],
  [/descriptors\.entries\.expression$|local\.key$/, 'source.address'],
  [/descriptors\.cost$/, 'size(request.path)'],
  [/cache\.key$/, 'request.headers["authorization"]'],
  [/cache\.ttl$/, '5m'],
  [/extAuth.*\.http\.redirect$/, '"/sign-in"'],
  [/extAuth.*\.http\.path$/, '"/check" + request.path'],
  [/externalAuth\.http\.path$/, '/check'],
  [/location\.expression$/, 'request.headers["x-token"]'],
  [/bodyExpression$/, '{"path": request.path}'],
  [/transformation\..*(request|response)\.body$/, 'json(request.body).text'],
  [/\.ai\.transformations\.expression$/, 'min([llmRequest.max_tokens, 1000])'],
  [
    /(directResponse\.headers|(set|add))\.value$|(addRequestHeaders|requestMetadata|responseMetadata|metadata)$/,
    'jwt.sub',
  ],
  // Names of headers and parts of requests
  [
    /authentication\.location\.header\.name$|[aA]uth\.location\.header\.name$|Authentication\.location\.header\.name$/,
    'authorization',
  ],
  [/location\.header\.prefix$/, 'Bearer'],
  [/location\.(queryParameter|cookie)\.name$/, 'access_token'],
  [/attributes\.remove$/, 'http.method'],
  [
    /(allowedRequestHeaders|allowedResponseHeaders|allowedHeaders|exposeHeaders|allowHeaders|remove|headers\.name)$/,
    'x-request-id',
  ],
  [/forwardHeaderMatches\.value$|headers\.value$|queryParams\.value$/, 'blue'],
  [/alpnProtocols$/, 'h2'],
  [/allowMethods$/, 'GET'],
  // Addresses
  [/static\.host$|a2a\.host$/, 'api.example.com'],
  [/provider\.host$|providers\.host$/, 'llm.example.com'],
  [/unixPath$/, '/run/app/app.sock'],
  [/endpoint$/, 'shop.openai.azure.com'],
  [/targets\.static\.path$/, '/mcp'],
  [/pathPrefix$/, '/v1'],
  [/provider(s)?\.path$/, '/v1/chat/completions'],
  [/jwksPath$/, '/realms/shop/protocol/openid-connect/certs'],
  [/otlp\.path$/, '/v1/logs'],
  [/tracing\.path$/, '/v1/traces'],
  [/allowOrigins$|additionalOrigins$/, 'https://app.example.com'],
  [/issuer$/, 'https://idp.example.com/realms/shop'],
  [/audience$/, 'https://shop.example.com'],
  [/audiences$/, 'shop'],
  [/caAddress$/, 'https://istiod.istio-system.svc:15012'],
  [/verifySubjectAltNames$|hostnames?$|externalName$/, 'shop.example.com'],
  [/subjectAltNames\.uri$/, 'spiffe://example.org/shop'],
  [/clusterIP$|endpoints\.addresses$|addresses\.value$/, '10.0.0.10'],
  // Texts
  [/prompt\.(prepend|append)\.role$/, 'system'],
  [/prompt\.(prepend|append)\.content$/, 'Answer in one paragraph.'],
  [/regex\.matches$/, 'project-[0-9]+'],
  [/response\.message$/, 'This text cannot be sent.'],
  [/directResponse\.body$|conditional\.policy\.body$/, 'Down for maintenance.'],
  [/basicAuthentication\.users$/, 'ann:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC'],
  [/jwks\.inline$/, '{"keys":[]}'],
  [/auth\.key$/, 'my-key'],
  [/logging\.level$/, 'warn,proxy=debug'],
  [/domain$/, 'shop'],
  [/description$/, 'Gateways of the shop'],
  // Names of clouds and models
  [/deploymentName$|resourceName$|projectName$|projectId$/, 'shop'],
  [/identifier$/, 'gr4ab12cd3ef'],
  [/(guardrail|guardrailsServiceOne)\.version$|qualifier$/, '1'],
  [/templateId$/, 'shop-template'],
  [/region$/, 'us-east-1'],
  [/agentRuntimeArn$/, 'arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/shop'],
  [/serviceName$/, 'execute-api'],
  [/(clientId|objectId|resourceId)$/, '11111111-2222-3333-4444-555555555555'],
  [/moderationEndpoint\.model$/, 'omni-moderation-latest'],
  [/model$|modelAliases$/, 'small-model-v2'],
  [/\.(defaults|overrides|transformations)\.field$/, 'temperature'],
  [/\.(defaults|overrides)\.value$/, 0.2],
  // Of the platform
  [/image\.registry$/, 'registry.example.com'],
  [/image\.repository$/, 'gatewright/proxy'],
  [/image\.tag$/, '1.2.0'],
  [/image\.digest$/, `sha256:${'0'.repeat(64)}`],
  [/image\.pullPolicy$/, 'IfNotPresent'],
  [/env\.name$/, 'LOG_LEVEL'],
  [/env\.value$/, 'info'],
  [/fieldRef\.apiVersion$/, 'v1'],
  [/fieldPath$/, 'metadata.name'],
  [/resourceFieldRef\.resource$/, 'limits.cpu'],
  [/resources\.(limits|requests)$/, '500m'],
  [
    /rawConfig$|resourceMetadata$|(deployment|service|serviceAccount|podDisruptionBudget|horizontalPodAutoscaler)\.spec$/,
    {},
  ],
  [/trustDomain$|additionalTrustDomains$/, 'cluster.local'],
  [/controllerName$/, 'gatewright.dev/controller'],
  [/gatewayClassName$/, 'gatewright'],
  [/listeners\.protocol$/, 'HTTPS'],
  [/parametersRef\.kind$/, 'ProxyParameters'],
  [
    /targets?\.?.*\.group$|targetRefs\.group$|targetSelectors\.group$|\.from\.group$|kinds\.group$/,
    'gateway.networking.k8s.io',
  ],
  [/parametersRef\.group$/, 'gatewright.dev'],
  [/targetRefs\.kind$|targetSelectors\.kind$|\.from\.kind$|kinds\.kind$/, 'HTTPRoute'],
  [/caCertificateRefs\.kind$/, 'ConfigMap'],
  [/\.group$/, ''],
  [/\.kind$/, 'Service'],
  [/(matchLabels|labels|annotations|selector|options|contextExtensions)$/, 'shop'],
  [/filters\.type$/, 'RequestHeaderModifier'],
  [/Path\.value$|path\.value$|replaceFullPath$|replacePrefixMatch$/, '/shop'],
  [/method\.service$/, 'shop.v1.Orders'],
  [/method\.method$/, 'List'],
  [/sessionName$/, 'shop-session'],
  [/appProtocol$/, 'kubernetes.io/h2c'],
  [/useDefaultGateways$/, 'All'],
  [/^Secret\.(data|stringData)$|^ConfigMap\.(data|binaryData)$/, 'c2hvcA=='],
  [/dataFrom\.env$/, 'SHOP_API_KEY'],
  [/dataFrom\.file$/, 'secrets/shop.key'],
  [/^Secret\.type$/, 'Opaque'],
  [/serviceAccountName$|containerName$|volumeName$|nodeName$|zone$/, 'shop'],
  [/configMapKeyRef\.key$|secretKeyRef\.key$|fileKeyRef\.key$/, 'level'],
  [/fileKeyRef\.path$/, 'settings.env'],
  [/[mM]atchExpressions\.(key|values)$/, 'team'],
  [/targetPort$/, 8080],
  [/sectionName$/, 'https'],
  [/namespace$/, 'shop'],
  [/name$/, 'shop'],
  [/request$/, 'gpu'],
]

const SCALARS: Readonly<Partial<Record<NonNullable<SchemaNode['scalar']>, unknown>>> = {
  Duration: '30s',
  ByteSize: '64Ki',
  Quantity: '500m',
  SNI: 'shop.example.com',
  HTTPHeaderName: 'x-request-id',
  HeaderName: 'x-request-id',
  JSON: {},
}

/** Where bounds permit it. */
const NUMBER = 10
const PORT = 8080
const MAX_PORT = 65_535

/** An example of the value of a field; of a list or map, of one entry. Undefined: an object, whose fields have examples. */
export function fieldExample(field: FoundField): unknown {
  const { info, path, node } = field
  const entry = entryNode(node)
  if (entry.scalar !== 'JSON' && objectIn(node).properties !== undefined) {
    return Object.keys(objectIn(node).properties!).length === 0 ? {} : undefined
  }
  if (node.default !== undefined && entry === node) return node.default
  if (entry.enum !== undefined || entry.const !== undefined) return entry.const ?? entry.enum![0]
  const whole = [info.kind, ...path].join('.')
  const given = EXAMPLES.find(([pattern, value]) => pattern.test(whole) && fitsType(entry, value))
  return given === undefined ? exampleOfType(entry) : given[1]
}

/** The schema of a field that is no list or map, or of its entries. */
export function entryNode(node: SchemaNode): SchemaNode {
  if (node.scalar === 'JSON') return node
  const inner = node.items ?? node.additionalProperties
  return inner === undefined ? node : entryNode(inner)
}

function fitsType(entry: SchemaNode, value: unknown): boolean {
  return validate(entry as TSchema, value).problems.length === 0
}

function exampleOfType({ scalar, type, minimum = 0, maximum = Number.POSITIVE_INFINITY }: SchemaNode): unknown {
  if (scalar !== undefined) return SCALARS[scalar]
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number')
    return maximum === MAX_PORT ? PORT : Math.min(Math.max(NUMBER, minimum), maximum)
  return undefined
}

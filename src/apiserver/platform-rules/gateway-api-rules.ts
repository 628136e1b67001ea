import type { ValidationRule } from '../schemas/json-schema.ts'

/** What a CustomResourceDefinition of the Gateway API says of a field besides its type. */
export interface Amendment {
  /** `spec.rules[].filters` */
  readonly at: string
  readonly rules?: readonly ValidationRule[]
  readonly enum?: readonly (string | number)[]
  readonly pattern?: string
  readonly isSet?: true
}

const rule = (expression: string, message: string): ValidationRule => ({ rule: expression, message })

const SAME_PARENT =
  "p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (has(p1.__namespace__) ? p1.__namespace__ : '') == (has(p2.__namespace__) ? p2.__namespace__ : '')"
const SECTION = (parent: string) => `(has(${parent}.sectionName) ? ${parent}.sectionName : '')`
const PORT = (parent: string) => `(has(${parent}.port) ? ${parent}.port : 0)`

const DEFAULT_GATEWAYS: Amendment = { at: 'spec.useDefaultGateways', enum: ['All', 'None'] }

const PARENTS: Amendment = {
  at: 'spec.parentRefs',
  rules: [
    rule(
      `self.all(p1, self.all(p2, !(${SAME_PARENT}) || (has(p1.sectionName) == has(p2.sectionName) && has(p1.port) == has(p2.port))))`,
      'sectionName or port must be specified when parentRefs includes 2 or more references to the same parent',
    ),
    rule(
      `self.all(p1, self.exists_one(p2, ${SAME_PARENT} && ${SECTION('p1')} == ${SECTION('p2')} && ${PORT('p1')} == ${PORT('p2')}))`,
      'sectionName or port must be unique when parentRefs includes 2 or more references to the same parent',
    ),
  ],
}

const MAX_MATCHES = 128
const RULES: Amendment = {
  at: 'spec.rules',
  rules: [
    rule(
      `self.map(r, has(r.matches) ? r.matches.size() : 0).sum() <= ${MAX_MATCHES}`,
      `While 16 rules and 64 matches per rule are allowed, the total number of matches across all rules in a route must be less than ${MAX_MATCHES}`,
    ),
    rule(
      'self.all(r1, !has(r1.name) || self.exists_one(r2, has(r2.name) && r1.name == r2.name))',
      'Rule name must be unique within the route',
    ),
  ],
}

const SESSION: Amendment = {
  at: 'spec.rules[].sessionPersistence',
  rules: [
    rule(
      "!has(self.cookieConfig) || !has(self.type) || self.type == 'Cookie'",
      'cookieConfig can only be set with type Cookie',
    ),
  ],
}

const FILTER_LISTS = ['spec.rules[].filters', 'spec.rules[].backendRefs[].filters']
const HTTP_FILTERS = [
  'RequestHeaderModifier',
  'ResponseHeaderModifier',
  'RequestMirror',
  'RequestRedirect',
  'URLRewrite',
  'ExtensionRef',
  'CORS',
  'ExternalAuth',
]
const GRPC_FILTERS = ['ResponseHeaderModifier', 'RequestHeaderModifier', 'RequestMirror', 'ExtensionRef']

function once(type: string): ValidationRule {
  return rule(`self.filter(f, f.type == '${type}').size() <= 1`, `${type} filter cannot be repeated`)
}

const TOKEN = "^[A-Za-z0-9!#$%&'*+\\-.^_`|~]+$"
const ORIGIN = '^\\*$|^https?://(((\\*\\.)?([a-zA-Z0-9-]+\\.)*[a-zA-Z0-9-]+|\\*)(:[0-9]{1,5})?)$'
const PROTOCOL =
  '^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9]+$'

const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', '*']

/** Visible ASCII with single spaces and tabs. */
const HEADER_VALUE = '^[!-~]+([\\t ]?[!-~]+)*$'

function headerValues(list: string): readonly Amendment[] {
  return ['requestHeaderModifier', 'responseHeaderModifier'].flatMap((filter) =>
    ['set', 'add'].map((member): Amendment => ({ at: `${list}[].${filter}.${member}[].value`, pattern: HEADER_VALUE })),
  )
}

function httpFilters(list: string): readonly Amendment[] {
  return [
    {
      at: list,
      rules: [
        rule(
          "!(self.exists(f, f.type == 'RequestRedirect') && self.exists(f, f.type == 'URLRewrite'))",
          'May specify either httpRouteFilterRequestRedirect or httpRouteFilterRequestRewrite, but not both',
        ),
        ...['CORS', 'RequestHeaderModifier', 'ResponseHeaderModifier', 'RequestRedirect', 'URLRewrite'].map(once),
      ],
    },
    { at: `${list}[].type`, enum: HTTP_FILTERS },
    { at: `${list}[].requestRedirect.statusCode`, enum: [301, 302, 303, 307, 308] },
    { at: `${list}[].cors.allowMethods[]`, enum: HTTP_METHODS },
    ...['allowOrigins', 'allowMethods', 'allowHeaders'].map(
      (name): Amendment => ({
        at: `${list}[].cors.${name}`,
        isSet: true,
        rules: [
          rule(
            "!('*' in self && self.size() > 1)",
            `${name[0]!.toUpperCase()}${name.slice(1)} cannot contain '*' alongside other values`,
          ),
        ],
      }),
    ),
    { at: `${list}[].cors.exposeHeaders`, isSet: true },
    ...['allowHeaders', 'exposeHeaders'].map((name): Amendment => ({ at: `${list}[].cors.${name}[]`, pattern: TOKEN })),
    { at: `${list}[].cors.allowOrigins[]`, pattern: ORIGIN },
    ...headerValues(list),
  ]
}

const ONE_PREFIX =
  "!has(self.matches) || size(self.matches) == 1 && has(self.matches[0].path) && self.matches[0].path.type == 'PathPrefix'"

function onePrefix(field: string, name: string, isOfBackend: boolean): ValidationRule {
  const replaces = `has(f.${field}) && has(f.${field}.path) && f.${field}.path.type == 'ReplacePrefixMatch'`
  const filters = (of: string) => `has(${of}.filters) && ${of}.filters.exists(f, ${replaces})`
  const uses = isOfBackend ? `has(self.backendRefs) && self.backendRefs.exists(b, ${filters('b')})` : filters('self')
  const text = `using ${name} filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified`
  return rule(`!(${uses}) || (${ONE_PREFIX})`, isOfBackend ? `Within backendRefs, when ${text}` : `When ${text}`)
}

const HTTP_ROUTE: readonly Amendment[] = [
  PARENTS,
  DEFAULT_GATEWAYS,
  RULES,
  {
    at: 'spec.rules[]',
    rules: [
      rule(
        '!has(self.backendRefs) || size(self.backendRefs) == 0 || !has(self.filters) || self.filters.all(f, !has(f.requestRedirect))',
        'RequestRedirect filter must not be used together with backendRefs',
      ),
      onePrefix('requestRedirect', 'RequestRedirect', false),
      onePrefix('urlRewrite', 'URLRewrite', false),
      onePrefix('requestRedirect', 'RequestRedirect', true),
      onePrefix('urlRewrite', 'URLRewrite', true),
    ],
  },
  ...FILTER_LISTS.flatMap(httpFilters),
  {
    at: 'spec.rules[].timeouts',
    rules: [
      rule(
        "!(has(self.request) && has(self.backendRequest) && duration(self.request) != duration('0s') && duration(self.backendRequest) > duration(self.request))",
        'backendRequest timeout cannot be longer than request timeout',
      ),
    ],
  },
  { at: 'spec.rules[].retry.codes', isSet: true },
  SESSION,
]

const GRPC_ROUTE: readonly Amendment[] = [
  PARENTS,
  DEFAULT_GATEWAYS,
  RULES,
  ...FILTER_LISTS.flatMap((list): Amendment[] => [
    { at: list, rules: ['RequestHeaderModifier', 'ResponseHeaderModifier'].map(once) },
    { at: `${list}[].type`, enum: GRPC_FILTERS },
    ...headerValues(list),
  ]),
  SESSION,
]

const LISTENERS: readonly Amendment[] = [
  {
    at: 'spec.listeners',
    rules: [
      rule(
        "self.all(l, !(l.protocol in ['HTTP', 'TCP', 'UDP']) || !has(l.tls))",
        "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
      ),
      rule(
        "self.all(l, l.protocol != 'HTTPS' || !has(l.tls) || !has(l.tls.mode) || l.tls.mode == 'Terminate')",
        'tls mode must be Terminate for protocol HTTPS',
      ),
      rule("self.all(l, l.protocol != 'TLS' || has(l.tls))", 'tls mode must be set for protocol TLS'),
      rule(
        "self.all(l, !(l.protocol in ['TCP', 'UDP']) || !has(l.hostname))",
        "hostname must not be specified for protocols ['TCP', 'UDP']",
      ),
      rule(
        "self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && (has(l1.hostname) ? l1.hostname : '') == (has(l2.hostname) ? l2.hostname : '')))",
        'Combination of port, protocol and hostname must be unique for each listener',
      ),
    ],
  },
  { at: 'spec.listeners[].protocol', pattern: PROTOCOL },
  {
    at: 'spec.listeners[].tls',
    rules: [
      rule(
        "has(self.mode) && self.mode != 'Terminate' || has(self.certificateRefs) && size(self.certificateRefs) > 0 || has(self.options) && size(self.options) > 0",
        'certificateRefs or options must be specified when mode is Terminate',
      ),
    ],
  },
]

const HOSTNAME = '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'

function uniqueAddresses(type: string): ValidationRule {
  return rule(
    `self.all(a1, !(a1.type == '${type}' && has(a1.value)) || self.exists_one(a2, a2.type == a1.type && has(a2.value) && a2.value == a1.value))`,
    `${type} values must be unique`,
  )
}

const SAME_TARGET = 'p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name'

/**
 * By kind: the rules of the CustomResourceDefinitions of the Gateway API (1.5 to 1.7, experimental channel, with their messages) that the schemas do not
 * have. The control plane reports most of them in the status of objects of files, too.
 */
export const GATEWAY_API_RULES: Readonly<Record<string, readonly Amendment[]>> = {
  HTTPRoute: HTTP_ROUTE,
  GRPCRoute: GRPC_ROUTE,
  TCPRoute: [PARENTS, DEFAULT_GATEWAYS],
  TLSRoute: [
    PARENTS,
    DEFAULT_GATEWAYS,
    { at: 'spec.hostnames', rules: [rule('self.all(h, !isIP(h))', 'Hostnames cannot contain an IP')] },
  ],
  Gateway: [
    ...LISTENERS,
    { at: 'spec.addresses', rules: ['IPAddress', 'Hostname'].map(uniqueAddresses) },
    {
      at: 'spec.addresses[]',
      rules: [
        rule(
          `self.type != 'Hostname' || !has(self.value) || self.value.matches(r'${HOSTNAME}')`,
          `Hostname value must be empty or contain only valid characters (matching ${HOSTNAME})`,
        ),
      ],
    },
  ],
  ListenerSet: LISTENERS,
  GatewayClass: [{ at: 'spec.controllerName', rules: [rule('self == oldSelf', 'Value is immutable')] }],
  BackendTLSPolicy: [
    {
      at: 'spec.targetRefs',
      rules: [
        rule(
          `self.all(p1, self.all(p2, !(${SAME_TARGET}) || has(p1.sectionName) == has(p2.sectionName)))`,
          'sectionName must be specified when targetRefs includes 2 or more references to the same target',
        ),
        rule(
          `self.all(p1, self.exists_one(p2, ${SAME_TARGET} && ${SECTION('p1')} == ${SECTION('p2')}))`,
          'sectionName must be unique when targetRefs includes 2 or more references to the same target',
        ),
      ],
    },
  ],
}

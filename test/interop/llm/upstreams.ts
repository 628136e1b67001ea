import { CERTIFICATES } from '#net/testing/certificates.ts'
import { freePort } from '../../support/free-port.ts'
import type { StartGateway } from '../../support/gateway-options.ts'
import { startGatewayProcess } from '../../support/gateway-process.ts'
import { createObjectsFolder, joinYaml, listenersYaml } from '../../support/objects-folder.ts'
import { tlsSecretYaml } from '../../support/tls-objects.ts'
import { JUDGE, PROMPT_GUARD } from './guards.ts'

/** A provider with a model, behind its own prefix of the gateway. */
export interface Upstream {
  readonly name: string
  readonly provider: Readonly<Record<string, object>>
  readonly model: string
  /** Model for embeddings; undefined: the provider has none. */
  readonly embeds?: string
  /** Which API it gets chats in. */
  readonly api: 'completions' | 'messages' | 'converse'
  /** The model decides how much it thinks, and refuses budgets and sampling. */
  readonly adaptive?: true
  /** Whether it has a list of its models. */
  readonly lists: boolean
  /** Whether it serves the responses API itself, and sessions. */
  readonly servesResponses: boolean
}

const CLAUDE = 'claude-haiku-4-5'
const GPT = 'gpt-5.1'
const GEMINI = 'gemini-3-pro-preview'
const project = { resourceName: 'house', resourceType: 'ResourceTypeTwo', projectName: 'door' }

export const UPSTREAMS: readonly Upstream[] = [
  {
    name: 'one',
    provider: { providerOne: {} },
    model: GPT,
    embeds: 'text-embedding-3-small',
    api: 'completions',
    lists: true,
    servesResponses: true,
  },
  {
    name: 'two',
    provider: { providerTwo: { endpoint: 'house.openai.azure.com' } },
    model: GPT,
    embeds: 'text-embedding-3-small',
    api: 'completions',
    lists: false,
    servesResponses: true,
  },
  {
    name: 'three',
    provider: { providerThree: project },
    model: CLAUDE,
    api: 'messages',
    lists: false,
    servesResponses: false,
  },
  { name: 'four', provider: { providerFour: {} }, model: CLAUDE, api: 'messages', lists: true, servesResponses: false },
  {
    name: 'four-new',
    provider: { providerFour: {} },
    model: 'claude-opus-4-8',
    api: 'messages',
    lists: true,
    adaptive: true,
    servesResponses: false,
  },
  {
    name: 'five',
    provider: { providerFive: {} },
    model: GEMINI,
    embeds: 'gemini-embedding-001',
    api: 'completions',
    lists: true,
    servesResponses: false,
  },
  {
    name: 'six-claude',
    provider: { providerSix: { projectId: 'p' } },
    model: CLAUDE,
    api: 'messages',
    lists: false,
    servesResponses: false,
  },
  {
    name: 'six',
    provider: { providerSix: { projectId: 'p' } },
    model: GEMINI,
    embeds: 'gemini-embedding-001',
    api: 'completions',
    lists: false,
    servesResponses: false,
  },
  {
    name: 'seven',
    provider: { providerSeven: { region: 'eu-west-1' } },
    model: 'anthropic.claude-haiku-4-5-20251001-v1:0',
    embeds: 'amazon.titan-embed-text-v2:0',
    api: 'converse',
    lists: false,
    servesResponses: false,
  },
  {
    name: 'seven-nova',
    provider: { providerSeven: { region: 'eu-west-1' } },
    model: 'us.amazon.nova-2-lite-v1:0',
    embeds: 'cohere.embed-multilingual-v3',
    api: 'converse',
    lists: false,
    servesResponses: false,
  },
]

/** Why thoughts of that upstream do not go back to it. */
export function unsigned({ model }: Upstream): string | undefined {
  return model.includes('nova') ? 'the model signs no thoughts' : undefined
}

/** Why no thoughts come in chats of that upstream. */
export function withoutThoughts({ model }: Upstream): string | undefined {
  return model === GPT ? 'chat completions of this vendor show no thoughts' : undefined
}

/** A model that the lists of vendors have. */
export const OWN_MODEL = 'vendor-model'

/** A name of the gateway for the model of each upstream. */
export const ALIAS = 'house-model'

const ROUTES = {
  '/chat/completions': 'Completions',
  '/responses': 'Responses',
  '/embeddings': 'Embeddings',
  '/messages': 'Messages',
  '/messages/count_tokens': 'MessagesTokenCount',
  '/v1/models': 'Models',
  '/realtime': 'Realtime',
  '*': 'Detect',
}

/** Starts a gateway whose providers are all at that port. @returns its URLs, to which the name of an upstream is appended */
export async function startUpstreams(
  port: number,
  stops: AsyncDisposableStack,
  start: StartGateway = startGatewayProcess,
): Promise<{ readonly url: string; readonly secureUrl: string }> {
  const [plain, secure] = [await freePort(), await freePort()]
  const listeners = listenersYaml('main', [
    `{ name: http, protocol: HTTP, port: ${plain} }`,
    `{ name: https, protocol: HTTPS, port: ${secure}, tls: { certificateRefs: [{ name: door }] } }`,
  ])
  const objects = UPSTREAMS.flatMap((upstream) =>
    [upstream.name, guardedName(upstream)].flatMap((name) => [backend(name, upstream, port), route(name)]),
  )
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(listeners, tlsSecretYaml('door', CERTIFICATES.server), ...objects, ...judgeYaml(port)),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await start({ files: [folder.path], workers: 1 }))
  stops.defer(async () => {
    if (/"?level"?[=:]"?error/.test(gateway.output.stderr)) console.log(gateway.output.stderr)
  })
  return { url: `http://127.0.0.1:${plain}`, secureUrl: `https://127.0.0.1:${secure}` }
}

/** The same upstream behind prompt guards. */
const guardedName = ({ name }: Upstream) => `${name}-guarded`

/** The backend that a scenario is about. */
export function backendOf(upstream: Upstream, scenario: string): string {
  return scenario.startsWith('guard-') ? guardedName(upstream) : upstream.name
}

function backend(name: string, { provider, model, ...upstream }: Upstream, port: number): string {
  // Without `host` the credential of a cloud would be required.
  const policies = {
    ai: {
      routes: ROUTES,
      modelAliases: { [ALIAS]: model },
      ...(name !== upstream.name && { promptGuard: PROMPT_GUARD }),
    },
    // Vendors negotiate it; without TLS it would be that of the client.
    http: { version: 'HTTP1' },
  }
  const ai = { provider: { ...provider, host: '127.0.0.1', port } }
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({ ai, policies })}
`
}

/** The service that guards ask. */
function judgeYaml(port: number): readonly string[] {
  const service = { metadata: { name: JUDGE }, spec: { ports: [{ port: 80 }] } }
  const slice = {
    metadata: { name: JUDGE, labels: { 'kubernetes.io/service-name': JUDGE } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['127.0.0.1'] }],
    ports: [{ port }],
  }
  return [
    { apiVersion: 'v1', kind: 'Service', ...service },
    { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ...slice },
  ].map((object) => `\n${JSON.stringify(object)}\n`)
}

function route(name: string): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ path: { type: PathPrefix, value: /${name} } }]
      filters: [{ type: URLRewrite, urlRewrite: { path: { type: ReplacePrefixMatch, replacePrefixMatch: / } } }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: ${name} }]
`
}

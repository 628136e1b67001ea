import type { ImpliedCloud } from '#policies/backend/auth/implied-auth.ts'
import type { LlmProviderSpec, ProviderBlock, ProviderKind } from '../settings/provider-schema.ts'
import type { Provider } from './provider.ts'
import { buildProviderFive } from './provider-five.ts'
import { buildProviderFour } from './provider-four.ts'
import { buildProviderOne } from './provider-one.ts'
import { buildProviderSeven } from './provider-seven.ts'
import { buildProviderSix } from './provider-six.ts'
import { buildProviderThree } from './provider-three.ts'
import { buildProviderTwo } from './provider-two.ts'
import { toPath } from './upstream-path.ts'

/** The seven providers by the name of their block in `LLMProvider`. `base` is the path prefix, if the provider has one. */
const PROVIDERS: {
  readonly [Kind in ProviderKind]: (block: ProviderBlock<Kind>, base: string) => Provider
} = {
  providerOne: buildProviderOne,
  providerTwo: buildProviderTwo,
  providerThree: buildProviderThree,
  providerFour: buildProviderFour,
  providerFive: buildProviderFive,
  providerSix: buildProviderSix,
  providerSeven: buildProviderSeven,
}

/** The name of the provider block that is set. Throws if there is none; the schema refuses such objects. */
export function providerKind(spec: LlmProviderSpec): ProviderKind {
  for (const kind of Object.keys(PROVIDERS) as ProviderKind[]) if (spec[kind] !== undefined) return kind
  throw new Error('an LLM provider without a provider block')
}

/** Builds the provider with the settings of its block. */
export function buildProvider(spec: LlmProviderSpec): Provider {
  return build(providerKind(spec), spec)
}

function build<Kind extends ProviderKind>(kind: Kind, spec: LlmProviderSpec): Provider {
  const block = spec[kind] as ProviderBlock<Kind>
  return PROVIDERS[kind](block, normalizePrefix(spec.pathPrefix))
}

/** One leading slash, no trailing slash; `/v1` if unset, empty for `/`. */
function normalizePrefix(prefix: string | undefined): string {
  if (prefix === undefined) return '/v1'
  const bare = prefix.replace(/^\/+|\/+$/g, '')
  return bare === '' ? '' : toPath(bare)
}

/** Destination of connections to a provider. */
export interface ProviderDestination {
  readonly host: string
  readonly port: number
  /** Whether TLS with the system's certificate authorities is used if no `tls` policy applies. */
  readonly tls: boolean
  readonly signing: Provider['signing']
  /** The cloud whose credentials from the environment the provider gets without an `auth` policy. */
  readonly ambient: Provider['cloud']
}

/** Credentials from the environment go to hosts of their own cloud only (decision B12). */
const CLOUD_HOSTS: Readonly<Record<ImpliedCloud, RegExp>> = {
  cloudOne: /\.(?:amazonaws\.com|amazonaws\.com\.cn|api\.aws)$/i,
  cloudTwo: /\.azure\.com$/i,
  cloudThree: /\.googleapis\.com$/i,
}

/**
 * `host` and `port` are independent: a host without a port uses port 443, a port without a host uses the provider's default host (decision
 * B10). The default host always uses TLS. A configured host uses TLS if the port is 443 or unset, so that local servers work without TLS
 * and keys are never sent in clear text to the usual port (decision B11).
 */
export function providerDestination(spec: LlmProviderSpec): ProviderDestination {
  const own = buildProvider(spec)
  const { signing, cloud } = own
  const host = spec.host ?? own.host
  const port = spec.port ?? (spec.host === undefined ? own.port : 443)
  const tls = spec.host === undefined || port === 443
  const isCloudHost = cloud !== undefined && CLOUD_HOSTS[cloud].test(host)
  return { host, port, tls, signing, ambient: tls && isCloudHost ? cloud : undefined }
}

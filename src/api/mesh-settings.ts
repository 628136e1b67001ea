import { isLoopbackHost } from '#base/loopback-host.ts'
import type { ProxyParametersSpec } from './proxy-parameters.ts'

/** `mesh` of the parameters of a Gateway, with defaults (specification 1, 2.5). */
export interface MeshSettings {
  /** See `parseCaAddress`. */
  readonly caAddress: string
  readonly trustDomain: string
  readonly additionalTrustDomains: readonly string[]
}

/** The Service of the CA of Istio, as it is installed by default. */
export const DEFAULT_CA_ADDRESS = 'https://istiod.istio-system.svc:15012'

export const DEFAULT_TRUST_DOMAIN = 'cluster.local'

/**
 * Merges by field; a list of domains is one value (decision A-119).
 * @param parameters in rising precedence: those of the class, then those of the Gateway
 * @returns undefined if none of them has `mesh`: the proxy is in no mesh
 */
export function mergeMesh(parameters: readonly ProxyParametersSpec[]): MeshSettings | undefined {
  const levels = parameters.flatMap(({ mesh }) => mesh ?? [])
  if (levels.length === 0) return undefined
  const defaults = { caAddress: DEFAULT_CA_ADDRESS, trustDomain: DEFAULT_TRUST_DOMAIN, additionalTrustDomains: [] }
  return Object.assign({}, defaults, ...levels)
}

/** Files in the pod of a proxy in a mesh. Folders and names are those of Istio. */
export const MESH_FILES = {
  /** The root certificates of the mesh, from a ConfigMap that Istio writes into every namespace. */
  roots: { configMap: 'istio-ca-root-cert', folder: '/var/run/secrets/istio', name: 'root-cert.pem' },
  /** The token with which the proxy asks the CA. */
  token: { audience: 'istio-ca', folder: '/var/run/secrets/tokens', name: 'istio-token' },
} as const

/** Where the CA of a mesh is. */
export interface CaAddress {
  /** Without TLS, the CA must be on the same machine. */
  readonly isSecure: boolean
  /** An IPv6 address is without brackets. */
  readonly host: string
  readonly port: number
}

export const CA_ADDRESS_FORM = 'host:port or https://host:port; http only to this machine'

const CA_ADDRESS = /^(?:(https?):\/\/)?(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):([0-9]{1,5})\/?$/

/** Reads `host:port`, `https://host:port` or, for this machine only, `http://host:port`: the token of the proxy must not be readable on the way. */
export function parseCaAddress(text: string): CaAddress | undefined {
  const [, scheme, ipv6, name, port] = CA_ADDRESS.exec(text) ?? []
  const host = ipv6 ?? name
  const number = Number(port)
  if (host === undefined || !(number >= 1 && number <= 65_535)) return undefined
  const isSecure = scheme !== 'http'
  return isSecure || isLoopbackHost(host) ? { isSecure, host, port: number } : undefined
}

export const TRUST_DOMAIN_FORM = 'a SPIFFE trust domain, such as cluster.local'

/** SPIFFE-ID, 2.1: lower-case letters, digits, dots, dashes and underscores, at most 255 characters. */
export function isTrustDomain(text: string): boolean {
  return /^[a-z0-9._-]{1,255}$/.test(text)
}

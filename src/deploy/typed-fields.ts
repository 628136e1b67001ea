import type { EnvVar, ResourceRequirements } from '#api/container-fields.ts'
import { type MeshSettings, mergeMesh } from '#api/mesh-settings.ts'
import type { ProxyParametersSpec } from '#api/proxy-parameters.ts'

/** The fields of the ProxyParameters of a Gateway and its class that are not overlays. */
export interface TypedFields {
  readonly image: NonNullable<ProxyParametersSpec['image']>
  readonly logging: NonNullable<ProxyParametersSpec['logging']>
  /** Each name once. */
  readonly env: readonly EnvVar[]
  readonly resources: ResourceRequirements
  readonly shutdown: { readonly min: number; readonly max: number }
  readonly rawConfig: NonNullable<ProxyParametersSpec['rawConfig']>
  /** Undefined: the proxy is in no mesh. */
  readonly mesh: MeshSettings | undefined
}

/** Seconds without `shutdown`: balancers need time to notice that a pod ends (decision A-117). */
const SHUTDOWN = { min: 10, max: 60 }

/**
 * Merges the typed fields by part and key (decision A-119); `shutdown` and `rawConfig` are replaced as a whole.
 * @param parameters in rising precedence: those of the class, then those of the Gateway
 */
export function mergeTypedFields(parameters: readonly ProxyParametersSpec[]): TypedFields {
  return {
    image: mergeMembers(parameters.map(({ image }) => image)),
    logging: mergeMembers(parameters.map(({ logging }) => logging)),
    env: mergeEnv(parameters.flatMap(({ env = [] }) => env)),
    resources: mergeResources(parameters.map(({ resources = {} }) => resources)),
    shutdown: parameters.findLast(({ shutdown }) => shutdown !== undefined)?.shutdown ?? SHUTDOWN,
    rawConfig: parameters.findLast(({ rawConfig }) => rawConfig !== undefined)?.rawConfig ?? {},
    mesh: mergeMesh(parameters),
  }
}

function mergeMembers<T extends object>(values: readonly (T | undefined)[]): Partial<T> {
  return Object.assign({}, ...values)
}

/** Of several variables with one name the last one applies, at its place: it may refer to those before. */
function mergeEnv(env: readonly EnvVar[]): readonly EnvVar[] {
  return env.filter(({ name }, i) => env.findLastIndex((other) => other.name === name) === i)
}

function mergeResources(resources: readonly ResourceRequirements[]): ResourceRequirements {
  const claims = resources.findLast(({ claims }) => claims !== undefined)?.claims
  return {
    limits: mergeMembers(resources.map(({ limits }) => limits)) as NonNullable<ResourceRequirements['limits']>,
    requests: mergeMembers(resources.map(({ requests }) => requests)) as NonNullable<ResourceRequirements['requests']>,
    ...(claims === undefined ? {} : { claims }),
  }
}

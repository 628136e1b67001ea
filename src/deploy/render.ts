import type { GatewayObject } from '#api/gateway.ts'
import type { ProxyParametersObject } from '#api/proxy-parameters.ts'
import type { Finding } from '#base/finding.ts'
import { parseIpAddress } from '#base/ip-address.ts'
import type { Json, JsonObject } from '#base/json.ts'
import { isJsonObject } from '#patch/json-object.ts'
import { CONTAINER, proxyContainer, SESSION_KEY } from './container.ts'
import {
  checksumOf,
  configMap,
  deployment,
  horizontalPodAutoscaler,
  type Identity,
  identityOf,
  podDisruptionBudget,
  service,
  serviceAccount,
  sessionKeySecret,
} from './generated.ts'
import { type Manifest, type Step, valueAt } from './manifest.ts'
import { applyOverlays, type Overlay, type OverlayField, overlaysOf } from './overlay.ts'
import { heapMebibytes, type Limits, proxyConfig, readLimits } from './proxy-config.ts'
import type { DeploySettings } from './settings.ts'
import { mergeTypedFields, type TypedFields } from './typed-fields.ts'

export interface RenderInput {
  readonly gateway: GatewayObject
  /** Ports of its listeners that are served, those of its ListenerSets included. */
  readonly ports: readonly number[]
  /** The ProxyParameters of the class, then those of the Gateway, as far as there are any. */
  readonly parameters: readonly ProxyParametersObject[]
  readonly settings: DeploySettings
  /** The key in the Secret of the Gateway; undefined: it does not exist yet. */
  readonly sessionKey?: string
}

/** The objects of a Gateway, or none. */
export interface Rendered {
  /**
   * In the order to apply them in. Undefined: the parameters or addresses cannot be used (`InvalidParameters`); what runs stays as it is.
   */
  readonly objects: readonly Manifest[] | undefined
  /** The Secret with the session key, without the key; undefined: `env` sets the key. */
  readonly sessionKeySecret: Manifest | undefined
  readonly findings: readonly Finding[]
}

/** Renders the objects that run the proxy of a Gateway (specification 1, 2.5). */
export function render(input: RenderInput): Rendered {
  const { address, fault } = requestedAddress(input.gateway)
  const faults = [...(fault === undefined ? [] : [fault]), ...readinessFaults(input.parameters)]
  if (faults.length > 0) return invalid(faults)
  const fields = mergeTypedFields(input.parameters.map(({ spec }) => spec))
  const all = { ...input, address, fields, identity: identityOf(input.gateway, input.settings) }
  // An overlay may set the limits on which the configuration depends.
  const draft = renderWith(all, {})
  const proxy = draft.objects?.find(({ kind }) => kind === 'Deployment')
  return proxy === undefined ? draft : renderWith(all, readLimits(valueAt(proxy, [...PROXY, 'resources', 'limits'])))
}

const PROXY: readonly Step[] = ['spec', 'template', 'spec', 'containers', { name: CONTAINER }]

function invalid(findings: readonly Finding[]): Rendered {
  return { objects: undefined, sessionKeySecret: undefined, findings }
}

interface Input extends RenderInput {
  readonly identity: Identity
  readonly fields: TypedFields
  readonly address: string | undefined
}

function renderWith(input: Input, limits: Limits): Rendered {
  const { parameters, identity, settings, fields } = input
  const config = proxyConfig(fields, limits)
  const { manifest: configuration, checksum } = configMap(identity, config, settings)
  const container = proxyContainer({
    settings,
    fields,
    gateway: input.gateway.metadata,
    sessionKeySecret: identity.sessionKeySecret,
    heapMebibytes: heapMebibytes(config, limits),
  })
  const pod = {
    ...{ container, settings, configChecksum: checksum },
    ...{ terminationSeconds: fields.shutdown.max, isInMesh: fields.mesh !== undefined },
  }
  const isWanted = (field: OverlayField) => overlaysOf(parameters, field).length > 0
  const generated: readonly (readonly [OverlayField, Manifest])[] = [
    ['serviceAccount', serviceAccount(identity)],
    ['service', service(identity, input)],
    ['deployment', deployment(identity, pod)],
    ...(isWanted('podDisruptionBudget') ? [['podDisruptionBudget', podDisruptionBudget(identity)] as const] : []),
    ...(isWanted('horizontalPodAutoscaler')
      ? [['horizontalPodAutoscaler', horizontalPodAutoscaler(identity)] as const]
      : []),
  ]
  const overlaid = generated.map(([field, manifest]) => applyOverlays(manifest, overlaysOf(parameters, field)))
  const faults = overlaid.flatMap(({ fault }) => fault ?? [])
  if (faults.length > 0) return invalid(faults)
  const finished = overlaid.flatMap(({ manifest }) => (manifest === undefined ? [] : [finish(manifest, input)]))
  const needsKey = finished.some((manifest) => usesSecret(manifest, identity))
  return {
    objects: [configuration, ...finished],
    sessionKeySecret: needsKey ? sessionKeySecret(identity) : undefined,
    findings: [...meshFindings(parameters), ...replicaFindings(parameters)],
  }
}

/** Sets what depends on the overlays. */
function finish(manifest: Manifest, { parameters, identity, sessionKey }: Input): Manifest {
  const spec = isJsonObject(manifest.spec) ? manifest.spec : {}
  switch (manifest.kind) {
    case 'PodDisruptionBudget': {
      const isSet = spec.maxUnavailable !== undefined || spec.minAvailable !== undefined
      return isSet ? manifest : { ...manifest, spec: { ...spec, maxUnavailable: 1 } }
    }
    case 'HorizontalPodAutoscaler':
      return {
        ...manifest,
        spec: { ...spec, maxReplicas: spec.maxReplicas ?? MAX_REPLICAS, metrics: spec.metrics ?? CPU_METRICS },
      }
    case 'Deployment': {
      const { replicas: _, ...others } = spec
      const isScaled = overlaysOf(parameters, 'horizontalPodAutoscaler').length > 0
      const scaled: Manifest = isScaled ? { ...manifest, spec: others } : manifest
      return sessionKey !== undefined && usesSecret(scaled, identity) ? withKeyChecksum(scaled, sessionKey) : scaled
    }
    default:
      return manifest
  }
}

const MAX_REPLICAS = 10
const CPU_METRICS = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
]

/** Whether the session key is that of the Secret: `env` and overlays may have replaced it. */
function usesSecret(manifest: Manifest, { sessionKeySecret: name }: Identity): boolean {
  return valueAt(manifest, [...PROXY, 'env', { name: SESSION_KEY }, 'valueFrom', 'secretKeyRef', 'name']) === name
}

/** Another key restarts the pods. */
function withKeyChecksum(manifest: Manifest, sessionKey: string): Manifest {
  const checksum = { 'checksum/session-key': checksumOf(sessionKey) }
  const patch = (value: Json | undefined, [first, ...rest]: readonly string[]): JsonObject => {
    const members = isJsonObject(value) ? value : {}
    return first === undefined ? { ...members, ...checksum } : { ...members, [first]: patch(members[first], rest) }
  }
  return patch(manifest, ['spec', 'template', 'metadata', 'annotations']) as Manifest
}

/** The address that the Service asks for. */
function requestedAddress({ spec, origin }: GatewayObject): {
  readonly address: string | undefined
  readonly fault?: Finding
} {
  const asked = (spec.addresses ?? []).filter(({ value = '' }) => value !== '')
  const refuse = (path: string, message: string) => {
    const fault: Finding = { origin, path, code: 'address-not-usable', message, severity: 'error' }
    return { address: undefined, fault }
  }
  for (const [i, { type, value = '' }] of (spec.addresses ?? []).entries()) {
    const path = `spec.addresses[${i}]`
    if (type !== 'IPAddress')
      return refuse(`${path}.type`, `addresses of type ${type} are not supported; use IPAddress`)
    if (value !== '' && parseIpAddress(value) === undefined)
      return refuse(`${path}.value`, `${value} is not an IP address`)
  }
  if (asked.length > 1) return refuse('spec.addresses', 'a Service can have only one address; keep one')
  return { address: asked[0]?.value }
}

/** Settings with which the probes would ask the wrong port. */
function readinessFaults(parameters: readonly ProxyParametersObject[]): readonly Finding[] {
  const message = 'the probes of the pod use the default address; remove this setting'
  return parameters.flatMap(({ origin, spec }) => {
    const inEnv = spec.env?.findIndex(({ name }) => name === 'GATEWRIGHT_READINESS_ADDR') ?? -1
    const paths = [
      ...(spec.rawConfig?.readinessAddress === undefined ? [] : ['spec.rawConfig.readinessAddress']),
      ...(inEnv < 0 ? [] : [`spec.env[${inEnv}]`]),
    ]
    return paths.map((path): Finding => ({ origin, path, code: 'parameters-invalid', message, severity: 'error' }))
  })
}

function meshFindings(parameters: readonly ProxyParametersObject[]): readonly Finding[] {
  return parameters.flatMap(({ origin, spec }) => {
    if (spec.mesh === undefined) return []
    const message = 'the proxy accepts no tunnels of the mesh yet: connections of pods to it have no mutual TLS'
    return [{ origin, path: 'spec.mesh', code: 'not-implemented', message, severity: 'warning' }]
  })
}

/** The autoscaler decides on the number of pods. */
function replicaFindings(parameters: readonly ProxyParametersObject[]): readonly Finding[] {
  if (overlaysOf(parameters, 'horizontalPodAutoscaler').length === 0) return []
  const withReplicas = ({ patch }: Overlay) => patch.spec?.replicas !== undefined
  return overlaysOf(parameters, 'deployment')
    .filter(withReplicas)
    .map(({ object }) => ({
      origin: object.origin,
      path: 'spec.deployment.spec.replicas',
      code: 'no-effect',
      message: 'replicas has no effect beside horizontalPodAutoscaler; set minReplicas there',
      severity: 'warning',
    }))
}

import type { EnvVar, ResourceRequirements } from '#api/container-fields.ts'
import type { GatewayObject } from '#api/gateway.ts'
import { MESH_FILES, type MeshSettings } from '#api/mesh-settings.ts'
import { OWN_PORTS, TUNNEL_PORT } from '#api/own-ports.ts'
import { parseQuantity } from '#base/byte-size.ts'
import type { Json, JsonObject } from '#base/json.ts'
import type { DeploySettings } from './settings.ts'
import type { TypedFields } from './typed-fields.ts'

/** Name of the container of the proxy, which overlays refer to. */
export const CONTAINER = 'proxy'
export const USER = 10_101

/** Keys of the ConfigMap. */
export const CONFIG_FILE = 'config.yaml'
export const AUTHORITY_FILE = 'ca.crt'
const TOKEN_FILE = 'token'

/** Volumes of the pod, and where the container has them. */
export const VOLUMES = {
  config: { name: 'config', mountPath: '/config' },
  token: { name: 'controller-token', mountPath: '/var/run/secrets/gatewright' },
  tmp: { name: 'tmp', mountPath: '/tmp' },
} as const

/** Further volumes of a pod in a mesh. */
const MESH_VOLUMES = {
  roots: { name: 'mesh-roots', mountPath: MESH_FILES.roots.folder },
  token: { name: 'mesh-token', mountPath: MESH_FILES.token.folder },
} as const

/** Seconds; the kubelet replaces the token long before. */
const TOKEN_LIFETIME = 43_200

/** Requests without `resources`: those of an idle proxy with two workers. */
const REQUESTS = { cpu: '100m', memory: '256Mi' }

interface ContainerInput {
  readonly settings: DeploySettings
  readonly fields: TypedFields
  readonly gateway: GatewayObject['metadata']
  readonly sessionKeySecret: string
  readonly heapMebibytes: number | undefined
}

/** The container of the proxy. */
export function proxyContainer(input: ContainerInput): JsonObject {
  const { settings, fields } = input
  const { pullPolicy } = fields.image
  return {
    name: CONTAINER,
    image: imageOf(settings, fields),
    ...(pullPolicy !== undefined && { imagePullPolicy: pullPolicy }),
    args: proxyArguments(settings),
    env: environment(input),
    ports: [
      { name: 'metrics', containerPort: OWN_PORTS.metrics, protocol: 'TCP' },
      ...(fields.mesh ? [{ name: 'mesh-tunnels', containerPort: TUNNEL_PORT, protocol: 'TCP' }] : []),
    ],
    startupProbe: { ...readiness(), periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 60, successThreshold: 1 },
    readinessProbe: { ...readiness(), periodSeconds: 10 },
    resources: resourcesOf(fields.resources),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: USER,
    },
    volumeMounts: [
      { ...VOLUMES.config, readOnly: true },
      { ...VOLUMES.token, readOnly: true },
      { ...VOLUMES.tmp },
      ...(fields.mesh ? Object.values(MESH_VOLUMES).map((volume) => ({ ...volume, readOnly: true })) : []),
    ],
  }
}

/** The command line of the proxy. Nothing in the environment of the container overrides how it reaches its controller (decision A-122). */
function proxyArguments({ controllerUrl }: DeploySettings): readonly string[] {
  const { config, token } = VOLUMES
  return [
    'proxy',
    ...['--controller', controllerUrl],
    ...['--controller-ca', `${config.mountPath}/${AUTHORITY_FILE}`],
    ...['--controller-token', `${token.mountPath}/${TOKEN_FILE}`],
    ...['--config', `${config.mountPath}/${CONFIG_FILE}`],
    // IPv6 and IPv4; where the node has no IPv6, the proxy binds to 0.0.0.0.
    ...['--bind', '::'],
  ]
}

/** @param configMap name of the ConfigMap with the configuration of the proxy */
export function podVolumes(configMap: string, { audience }: DeploySettings, isInMesh: boolean): readonly JsonObject[] {
  return [
    { name: VOLUMES.config.name, configMap: { name: configMap } },
    { name: VOLUMES.token.name, projected: tokenFor(audience, TOKEN_FILE) },
    { name: VOLUMES.tmp.name, emptyDir: {} },
    ...(isInMesh ? meshVolumes() : []),
  ]
}

function meshVolumes(): readonly JsonObject[] {
  const { roots, token } = MESH_FILES
  return [
    // Without `optional`, a pod would wait for a missing ConfigMap, and say nothing; the proxy says what is missing.
    { name: MESH_VOLUMES.roots.name, configMap: { name: roots.configMap, optional: true } },
    { name: MESH_VOLUMES.token.name, projected: tokenFor(token.audience, token.name) },
  ]
}

function tokenFor(audience: string, path: string): JsonObject {
  return { sources: [{ serviceAccountToken: { audience, expirationSeconds: TOKEN_LIFETIME, path } }] }
}

export function imageOf({ image: defaults }: DeploySettings, { image }: Pick<TypedFields, 'image'>): string {
  const { registry, repository, tag, digest = '' } = { ...defaults, ...image }
  const path = registry === '' ? repository : `${registry}/${repository}`
  return `${path}${tag === '' ? '' : `:${tag}`}${digest === '' ? '' : `@${digest}`}`
}

function readiness(): JsonObject {
  return { httpGet: { path: '/healthz/ready', port: OWN_PORTS.readiness } }
}

/** Variables of `env` come last, so that they can refer to the others, and replace those of the same name. */
function environment({ fields, gateway, sessionKeySecret, heapMebibytes }: ContainerInput): readonly Json[] {
  const { min, max } = fields.shutdown
  const generated: readonly EnvVar[] = [
    { name: 'TERMINATION_GRACE_PERIOD_SECONDS', value: `${max}` },
    { name: 'CONNECTION_MIN_TERMINATION_DEADLINE', value: `${min}s` },
    { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
    { name: 'GATEWAY', value: gateway.name },
    // From files, a Gateway has no uid.
    ...(gateway.uid === undefined ? [] : [{ name: 'GATEWRIGHT_GATEWAY_UID', value: gateway.uid }]),
    { name: SESSION_KEY, valueFrom: { secretKeyRef: { name: sessionKeySecret, key: SECRET_KEY } } },
    ...(heapMebibytes === undefined ? [] : [{ name: 'NODE_OPTIONS', value: `--max-old-space-size=${heapMebibytes}` }]),
    ...(fields.mesh ? meshVariables(fields.mesh) : []),
  ]
  const isReplaced = ({ name }: EnvVar) => fields.env.some((entry) => entry.name === name)
  return [...generated.filter((entry) => !isReplaced(entry)), ...fields.env] as readonly Json[]
}

function meshVariables({ caAddress, trustDomain }: MeshSettings): readonly EnvVar[] {
  return [
    { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    { name: 'SERVICE_ACCOUNT', valueFrom: { fieldRef: { fieldPath: 'spec.serviceAccountName' } } },
    { name: 'CA_ADDRESS', value: caAddress },
    { name: 'TRUST_DOMAIN', value: trustDomain },
  ]
}

export const SESSION_KEY = 'SESSION_KEY'
/** Entry of the Secret with the session key. */
const SECRET_KEY = 'key'

/** A default request is at most the limit: the API server refuses a greater one. */
function resourcesOf({ limits = {}, requests = {}, claims }: ResourceRequirements): JsonObject {
  const defaults = Object.entries(REQUESTS).map(([name, request]) => {
    const limit = limits[name]
    const isLess = limit !== undefined && parseQuantity(`${limit}`) < parseQuantity(request)
    return [name, isLess ? limit : request] as const
  })
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    requests: { ...Object.fromEntries(defaults), ...requests },
    ...(claims !== undefined && { claims: claims as Json }),
  }
}

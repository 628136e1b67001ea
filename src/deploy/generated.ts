import { stringify } from 'yaml'
import type { GatewayObject } from '#api/gateway.ts'
import { OWN_PORTS } from '#api/own-ports.ts'
import type { RawConfig } from '#api/raw-config.ts'
import { toByteText } from '#base/byte-text.ts'
import type { JsonObject } from '#base/json.ts'
import { sha256OfByteText } from '#base/sha256.ts'
import { AUTHORITY_FILE, CONFIG_FILE, podVolumes, USER } from './container.ts'
import type { Manifest } from './manifest.ts'
import { GATEWAY_LABEL, labelValue, nameOfObjects } from './names.ts'
import type { DeploySettings } from './settings.ts'

const GATEWAY_PREFIX = 'gateway.networking.k8s.io/'

/** What the objects of one Gateway have in common. */
export interface Identity {
  readonly name: string
  readonly sessionKeySecret: string
  readonly metadata: JsonObject
  /** Labels of the pods, by which all others select them. */
  readonly selector: { readonly [label: string]: string }
  /** Labels of the pods. Those that change with each version of the controller would restart them. */
  readonly podLabels: JsonObject
  /** Of the infrastructure of the Gateway. */
  readonly annotations: { readonly [name: string]: string }
}

export function identityOf({ metadata, spec }: GatewayObject, { version }: DeploySettings): Identity {
  const name = nameOfObjects(metadata.name)
  const gateway = labelValue(metadata.name)
  const selector = {
    'app.kubernetes.io/name': gateway,
    'app.kubernetes.io/instance': gateway,
    [GATEWAY_LABEL]: gateway,
  }
  const { labels, annotations } = spec.infrastructure ?? {}
  const ofGateway = withoutReserved(annotations)
  const podLabels = {
    ...withoutReserved(labels),
    ...selector,
    [`${GATEWAY_PREFIX}gateway-class-name`]: labelValue(spec.gatewayClassName),
  }
  return {
    name,
    sessionKeySecret: nameOfObjects(`${name}-session-key`),
    selector,
    podLabels,
    annotations: ofGateway,
    metadata: {
      name,
      namespace: metadata.namespace,
      labels: {
        ...podLabels,
        'app.kubernetes.io/managed-by': 'gatewright',
        'app.kubernetes.io/version': labelValue(version),
      },
      ...(Object.keys(ofGateway).length > 0 && { annotations: ofGateway }),
      // From files, a Gateway has no uid, and nothing can be owned.
      ...(metadata.uid !== undefined && {
        ownerReferences: [
          {
            apiVersion: `${GATEWAY_PREFIX}v1`,
            kind: 'Gateway',
            name: metadata.name,
            uid: metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      }),
    },
  }
}

/** Labels and annotations of this prefix belong to the Gateway API. */
function withoutReserved(map: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).filter(([name]) => !name.startsWith(GATEWAY_PREFIX)))
}

export function serviceAccount({ metadata }: Identity): Manifest {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false }
}

/** The proxy reads the configuration when it starts, so that a change has to restart it, and the authority whenever it changes. */
export function configMap(
  { metadata }: Identity,
  config: RawConfig,
  { authority }: DeploySettings,
): { readonly manifest: Manifest; readonly checksum: string } {
  const text = stringify(config)
  const data = { [CONFIG_FILE]: text, ...(authority !== undefined && { [AUTHORITY_FILE]: authority }) }
  return { manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, checksum: checksumOf(text) }
}

export function checksumOf(text: string): string {
  return sha256OfByteText(toByteText(text))
}

/** The Secret without the key, which is created once, at random, and kept. */
export function sessionKeySecret({ sessionKeySecret: name, metadata }: Identity): Manifest {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name }, type: 'Opaque' }
}

/** A Service must have a port, and keeps its address while no listener has one. */
const PLACEHOLDER_PORT = 443

/** @param ports of the listeners; ports of the proxy itself are left out */
export function service(
  { metadata, selector }: Identity,
  { ports, address }: { readonly ports: readonly number[]; readonly address: string | undefined },
): Manifest {
  const own: readonly number[] = Object.values(OWN_PORTS)
  const usable = [...new Set(ports)].filter((port) => !own.includes(port)).sort((a, b) => a - b)
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {
      type: 'LoadBalancer',
      ...(address !== undefined && { loadBalancerIP: address }),
      selector,
      ports: (usable.length === 0 ? [PLACEHOLDER_PORT] : usable).map((port) => ({
        name: `listener-${port}`,
        port,
        protocol: 'TCP',
        targetPort: port,
      })),
    },
  }
}

/** A proxy takes part in the mesh itself: neither a node proxy nor a sidecar may intercept its connections. */
const MESH_LABELS = {
  'istio.io/dataplane-mode': 'none',
  'sidecar.istio.io/inject': 'false',
} as const

interface PodInput {
  readonly container: JsonObject
  readonly settings: DeploySettings
  readonly configChecksum: string
  readonly terminationSeconds: number
  readonly isInMesh: boolean
}

/** Without `replicas`, which an autoscaler or `kubectl scale` may own. */
export function deployment(identity: Identity, pod: PodInput): Manifest {
  const { metadata, selector } = identity
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { selector: { matchLabels: selector }, template: podTemplate(identity, pod) },
  }
}

function podTemplate(
  { name, selector, podLabels, annotations }: Identity,
  { container, settings, configChecksum, terminationSeconds, isInMesh }: PodInput,
): JsonObject {
  return {
    metadata: {
      labels: isInMesh ? { ...podLabels, ...MESH_LABELS } : podLabels,
      annotations: {
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': `${OWN_PORTS.metrics}`,
        'prometheus.io/path': '/metrics',
        ...annotations,
        'checksum/config': configChecksum,
      },
    },
    spec: {
      serviceAccountName: name,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: terminationSeconds,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: USER,
        runAsGroup: USER,
        seccompProfile: { type: 'RuntimeDefault' },
        // Listeners may have ports below 1024.
        sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
      },
      topologySpreadConstraints: ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
        maxSkew: 1,
        topologyKey,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: selector },
        // Pods of the version that a rolling update replaces do not count.
        matchLabelKeys: ['pod-template-hash'],
      })),
      containers: [container],
      volumes: podVolumes(name, settings, isInMesh),
    },
  }
}

export function podDisruptionBudget({ metadata, selector }: Identity): Manifest {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { selector: { matchLabels: selector } },
  }
}

export function horizontalPodAutoscaler({ metadata, name }: Identity): Manifest {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata,
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name } },
  }
}

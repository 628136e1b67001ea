import type { JsonObject } from '#base/json.ts'
import type { OverlayField } from '#deploy/overlay.ts'
import { seededRandom } from '#test/support/seeded-random.ts'
import { keyed, object, patchOf, type Shape, scalar } from '../../kubernetes/random-patches.ts'

const FLAG = scalar(true, false)
const TEXT = scalar('a', 'b')
const TEXTS = object({ a: TEXT, b: TEXT, 'example.com/c': TEXT })
const AMOUNTS = object({ cpu: scalar('1', '2'), memory: scalar('1Gi', '2Gi') })
const CONTAINER = {
  image: scalar('a.example.com/a:1', 'b:2'),
  imagePullPolicy: scalar('Always', 'Never'),
  args: { kind: 'atomic', items: TEXT },
  env: keyed('name', ['A', 'B', 'POD_NAME', 'GATEWAY'], { value: scalar('x', '') }),
  ports: keyed('containerPort', [15020, 8080, 9000], { name: scalar('web', 'more'), protocol: scalar('TCP', 'UDP') }),
  volumeMounts: keyed('mountPath', ['/extra', '/tmp'], { name: scalar('extra', 'tmp'), readOnly: FLAG }),
  resources: object({ limits: AMOUNTS, requests: AMOUNTS }),
  securityContext: object({ readOnlyRootFilesystem: FLAG, runAsUser: scalar(1000, 2000) }),
} satisfies Readonly<Record<string, Shape>>
const SPREAD = { maxSkew: scalar(1, 2), whenUnsatisfiable: scalar('ScheduleAnyway', 'DoNotSchedule') }
const SPREAD_KEYS = ['kubernetes.io/hostname', 'topology.kubernetes.io/zone', 'rack']

const POD = object({
  containers: keyed('name', ['proxy', 'sidecar', 'more'], CONTAINER),
  initContainers: keyed('name', ['setup'], { image: TEXT }),
  volumes: keyed('name', ['extra', 'tmp'], { emptyDir: object({ medium: scalar('', 'Memory') }) }),
  imagePullSecrets: keyed('name', ['a', 'b'], {}),
  topologySpreadConstraints: keyed('topologyKey', SPREAD_KEYS, SPREAD),
  hostAliases: keyed('ip', ['10.0.0.1', '10.0.0.2'], { hostnames: { kind: 'atomic', items: TEXT } }),
  nodeSelector: TEXTS,
  hostNetwork: FLAG,
  terminationGracePeriodSeconds: scalar(10, 90),
})

/** Values that the API server mostly accepts. */
const SHAPES: Readonly<Record<Exclude<OverlayField, 'serviceAccount'>, Shape>> = {
  deployment: object({
    replicas: scalar(1, 2),
    minReadySeconds: scalar(0, 5),
    revisionHistoryLimit: scalar(2, 3),
    template: object({ metadata: object({ annotations: TEXTS }), spec: POD }),
  }),
  service: object({
    type: scalar('ClusterIP', 'NodePort', 'LoadBalancer'),
    ports: keyed('port', [80, 443, 9000], {
      name: scalar('web', 'more'),
      targetPort: scalar(80, 'web'),
      appProtocol: scalar('http', 'h2c'),
    }),
    externalTrafficPolicy: scalar('Local', 'Cluster'),
    loadBalancerSourceRanges: { kind: 'atomic', items: scalar('10.0.0.0/8', '192.168.0.0/16') },
    sessionAffinity: scalar('ClientIP', 'None'),
  }),
  podDisruptionBudget: object({
    maxUnavailable: scalar(1, '50%'),
    minAvailable: scalar(1, '50%'),
    unhealthyPodEvictionPolicy: scalar('AlwaysAllow', 'IfHealthyBudget'),
  }),
  horizontalPodAutoscaler: object({
    minReplicas: scalar(1, 3),
    maxReplicas: scalar(2, 4),
    behavior: object({ scaleDown: object({ stabilizationWindowSeconds: scalar(10, 20) }) }),
  }),
}

export interface OverlayExample {
  readonly field: OverlayField
  readonly spec: JsonObject
}

/** A random overlay for the spec of one of the objects that run proxies; most are for Deployments. */
export function randomOverlay(seed: number): OverlayExample {
  const random = seededRandom(seed)
  const others = ['service', 'podDisruptionBudget', 'horizontalPodAutoscaler'] as const
  const field = random.below(5) < 3 ? 'deployment' : random.pick(others)
  return { field, spec: patchOf(random, SHAPES[field]) as JsonObject }
}

import {
  type ConfigProblem,
  enumOf,
  fieldPath,
  integer,
  jsonObject,
  list,
  mapOf,
  object,
  optional,
  type Parsed,
  problem,
  required,
  text,
  withRule,
} from '#schema/index.ts'
import { envVars, resourceRequirements } from './container-fields.ts'
import { type ObjectOf, ownKind } from './object.ts'

// Defaults of this kind are not added to the stored object: the values of a GatewayClass and of a Gateway are merged field by field, and a
// default in the object of the Gateway would hide the value of its class.

const logging = object({
  level: optional(
    text(),
    'Log level: one level, or a comma-separated list of module=level entries, such as "warn,proxy=debug". When unset, info.',
  ),
  format: optional(enumOf('json', 'text'), 'Format of log lines. When unset, text.'),
})

const image = object({
  registry: optional(text(), 'Registry of the image.'),
  repository: optional(text(), 'Repository of the image.'),
  tag: optional(text(), 'Tag of the image.'),
  digest: optional(text(), 'Digest of the image.'),
  pullPolicy: optional(
    text(),
    'Pull policy of the image: Always, IfNotPresent or Never. When unset, the platform decides.',
  ),
})

const seconds = () => integer({ min: 0, max: 31_536_000 })

function checkShutdownOrder(
  spec: { readonly min: number; readonly max: number },
  path: string,
): readonly ConfigProblem[] {
  if (spec.min <= spec.max) return []
  return [problem(fieldPath(path, 'min'), 'inconsistent', "'min' must be less than or equal to 'max'")]
}

const shutdown = withRule(
  object({
    min: required(seconds(), 'Minimum number of seconds before the proxy exits.'),
    max: required(seconds(), 'Maximum number of seconds before the proxy exits.'),
  }),
  {
    reads: ['min', 'max'],
    description: 'min must not be greater than max.',
    check: checkShutdownOrder,
    onServer: 'self.min <= self.max',
  },
)

const mesh = object({
  caAddress: optional(text(), 'Address of the CA of the mesh. When unset, the mesh CA of the cluster, port 15012.'),
  trustDomain: optional(text(), 'Trust domain of the proxy. When unset, cluster.local.'),
  additionalTrustDomains: optional(
    list(text()),
    'Additional SPIFFE trust domains accepted on incoming tunnels. The own trust domain is always accepted.',
  ),
})

/** Changes to a generated resource (specification 1, 2.5, `KubernetesResourceOverlay`). */
const resourceOverlay = object({
  metadata: optional(
    object({
      labels: optional(mapOf(text()), 'Labels to merge with the existing ones.'),
      annotations: optional(mapOf(text()), 'Annotations to merge with the existing ones.'),
    }),
    'Labels and annotations.',
  ),
  spec: optional(jsonObject(), 'Strategic merge patch for the spec of the resource.'),
})

/** `spec` of a ProxyParameters (specification 1, 2.5). */
const proxyParametersSpec = object({
  logging: optional(logging, 'Logging of the proxy.'),
  rawConfig: optional(jsonObject(), 'Raw configuration of the proxy. Typed fields of this object take precedence.'),
  image: optional(image, 'Image of the container.'),
  env: optional(envVars(), 'Environment variables of the container. They replace existing variables of the same name.'),
  resources: optional(resourceRequirements, 'Compute resources of the container.'),
  shutdown: optional(shutdown, 'Timing of a graceful shutdown.'),
  mesh: optional(mesh, 'Service mesh settings: connections to mesh pods use mutual TLS.'),
  deployment: optional(resourceOverlay, 'Changes to the generated Deployment.'),
  service: optional(resourceOverlay, 'Changes to the generated Service.'),
  serviceAccount: optional(resourceOverlay, 'Changes to the generated ServiceAccount.'),
  podDisruptionBudget: optional(resourceOverlay, 'Create a PodDisruptionBudget, with these changes.'),
  horizontalPodAutoscaler: optional(resourceOverlay, 'Create a HorizontalPodAutoscaler, with these changes.'),
})

export const proxyParameters = ownKind('ProxyParameters', {
  spec: required(proxyParametersSpec, 'Desired state.'),
  status: optional(object({}), 'Not used.'),
})

export type ResourceOverlaySpec = Parsed<typeof resourceOverlay>
export type ProxyParametersSpec = Parsed<typeof proxyParametersSpec>
export type ProxyParametersObject = ObjectOf<typeof proxyParameters>

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

// Defaults of this kind stay out of the stored object: the values of a GatewayClass and of a Gateway are merged field by field,
// and a default written into the Gateway's object would hide the value of its class.

const logging = object({
  level: optional(text(), 'Log level: one level, or a comma-separated list of module=level entries; info when unset.'),
  format: optional(enumOf('json', 'text'), 'Form of the log lines; text when unset.'),
})

const image = object({
  registry: optional(text(), 'Registry of the image.'),
  repository: optional(text(), 'Repository of the image.'),
  tag: optional(text(), 'Tag of the image.'),
  digest: optional(text(), 'Digest of the image.'),
  pullPolicy: optional(
    text(),
    'When the image is pulled: Always, IfNotPresent or Never; the platform decides when unset.',
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
    min: required(seconds(), 'Seconds to wait at least before the proxy ends.'),
    max: required(seconds(), 'Seconds after which the proxy ends in any case.'),
  }),
  { reads: ['min', 'max'], description: 'min is not greater than max.', check: checkShutdownOrder },
)

const mesh = object({
  caAddress: optional(
    text(),
    'Address of the CA of the mesh; that of the mesh in the cluster, port 15012, when unset.',
  ),
  trustDomain: optional(text(), 'Trust domain of the proxy; cluster.local when unset.'),
  additionalTrustDomains: optional(
    list(text()),
    'More SPIFFE trust domains accepted on incoming tunnels; the own domain always is.',
  ),
})

/** Changes to a generated resource (specification 1, 2.5, `KubernetesResourceOverlay`). */
const resourceOverlay = object({
  metadata: optional(
    object({
      labels: optional(mapOf(text()), 'Labels, merged with the existing ones.'),
      annotations: optional(mapOf(text()), 'Annotations, merged with the existing ones.'),
    }),
    'Labels and annotations.',
  ),
  spec: optional(jsonObject(), 'Part of the spec of the resource, merged as a strategic merge patch.'),
})

/** `spec` of a ProxyParameters (specification 1, 2.5). */
const proxyParametersSpec = object({
  logging: optional(logging, 'Log of the proxy.'),
  rawConfig: optional(jsonObject(), "The proxy's own settings file; the typed fields here are stronger."),
  image: optional(image, 'Image of the container.'),
  env: optional(envVars(), 'Environment variables of the container; they replace existing ones of the same name.'),
  resources: optional(resourceRequirements, 'Compute resources of the container.'),
  shutdown: optional(shutdown, 'Times of an orderly end.'),
  mesh: optional(mesh, 'Connect to pods of a service mesh with mutual TLS.'),
  deployment: optional(resourceOverlay, 'Changes to the generated Deployment.'),
  service: optional(resourceOverlay, 'Changes to the generated Service.'),
  serviceAccount: optional(resourceOverlay, 'Changes to the generated ServiceAccount.'),
  podDisruptionBudget: optional(resourceOverlay, 'Create a PodDisruptionBudget, with these changes.'),
  horizontalPodAutoscaler: optional(resourceOverlay, 'Create a HorizontalPodAutoscaler, with these changes.'),
})

export const proxyParameters = ownKind('ProxyParameters', {
  spec: required(proxyParametersSpec, 'What is wanted.'),
  status: optional(object({}), 'Not used.'),
})

export type ResourceOverlaySpec = Parsed<typeof resourceOverlay>
export type ProxyParametersSpec = Parsed<typeof proxyParametersSpec>
export type ProxyParametersObject = ObjectOf<typeof proxyParameters>

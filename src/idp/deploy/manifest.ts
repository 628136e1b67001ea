/** A Kubernetes object, and its path in the API. */
export interface DeployedObject {
  readonly path: string
  readonly object: object
}

export interface ManifestOptions {
  readonly namespace: string
  readonly image: string
  readonly adminPassword: string
}

/** Only Namespaces with this label are ever deleted (decision A-130). */
export const LABEL = 'gatewright.dev/identity-provider'

const NAME = 'identity-provider'
const LABELS = { 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/managed-by': 'gatewright' }
/** The port of document 1, 5.8, step 2. */
export const PORT = 8080

export function namespacePath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}`
}

export function deploymentPath(namespace: string): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments/${NAME}`
}

export function servicePath(namespace: string): string {
  return `${namespacePath(namespace)}/services/${NAME}`
}

/** The Secret with name and password of the administrator. */
export function secretPath(namespace: string): string {
  return `${namespacePath(namespace)}/secrets/${NAME}`
}

/** The Namespace, and Keycloak with its administrator in it (document 1, 5.8, step 1), in the order in which they are applied. */
export function manifest({ namespace, image, adminPassword }: ManifestOptions): readonly DeployedObject[] {
  const metadata = { name: NAME, namespace, labels: LABELS }
  const variable = (name: string, key: string) => ({ name, valueFrom: { secretKeyRef: { name: NAME, key } } })
  const container = {
    name: NAME,
    image,
    args: ['start-dev', `--http-port=${PORT}`],
    env: [variable('KC_BOOTSTRAP_ADMIN_USERNAME', 'username'), variable('KC_BOOTSTRAP_ADMIN_PASSWORD', 'password')],
    ports: [{ name: 'http', containerPort: PORT, protocol: 'TCP' }],
    readinessProbe: { httpGet: { path: '/realms/master', port: PORT }, periodSeconds: 5, failureThreshold: 60 },
  }
  const template = { metadata: { labels: LABELS }, spec: { containers: [container] } }
  return [
    {
      path: namespacePath(namespace),
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: { [LABEL]: 'true' } } },
    },
    {
      path: secretPath(namespace),
      object: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata,
        stringData: { username: 'admin', password: adminPassword },
      },
    },
    {
      path: servicePath(namespace),
      object: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata,
        spec: {
          type: 'LoadBalancer',
          selector: LABELS,
          ports: [{ name: 'http', port: PORT, targetPort: PORT, protocol: 'TCP' }],
        },
      },
    },
    {
      path: deploymentPath(namespace),
      object: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata,
        spec: { replicas: 1, selector: { matchLabels: LABELS }, template },
      },
    },
  ]
}

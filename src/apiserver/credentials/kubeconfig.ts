import { Buffer } from 'node:buffer'
import { stringify } from 'yaml'

/** Name of the configuration file for clients in the state folder. */
export const KUBECONFIG = 'kubeconfig'

/** How a client reaches the API. */
export interface Access {
  /** `https://127.0.0.1:15010` */
  readonly server: string
  /** PEM text of the authority. */
  readonly ca: string
  readonly token: string
}

const NAME = 'gatewright'

/** A configuration file for `kubectl` and other Kubernetes clients. It is a secret. */
export function kubeconfig({ server, ca, token }: Access): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: NAME, cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: NAME, user: { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME, namespace: 'default' } }],
    'current-context': NAME,
  })
}

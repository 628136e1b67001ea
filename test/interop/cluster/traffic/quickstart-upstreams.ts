import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { REPOSITORY, TAG } from '../image.ts'

const ENTRY = join(import.meta.dirname, '..', '..', '..', '..', 'examples', 'upstreams', 'run.ts')
const NAME = 'upstreams'
const FOLDER = '/upstreams'
const FILE = 'run.mjs'

/** A ConfigMap with the servers of the quickstart as one file. */
export async function upstreamsConfigMap(): Promise<object> {
  await using bundle = await rolldown({ input: ENTRY, platform: 'node' })
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false })
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME }, data: { [FILE]: output[0].code } }
}

/** ProxyParameters that run these servers beside the proxy, where the objects of the quickstart expect them: on 127.0.0.1. */
export function parametersWithUpstreams(name: string): object {
  const container = {
    name: NAME,
    image: `${REPOSITORY}:${TAG}`,
    command: ['node', `${FOLDER}/${FILE}`],
    // It starts before the proxy and ends after it.
    restartPolicy: 'Always',
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: NAME, mountPath: FOLDER },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  }
  const pod = { initContainers: [container], volumes: [{ name: NAME, configMap: { name: NAME } }] }
  return {
    apiVersion: 'gatewright.dev/v1alpha1',
    kind: 'ProxyParameters',
    metadata: { name },
    spec: { deployment: { spec: { template: { spec: pod } } } },
  }
}

import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { USUAL_PORTS } from '#examples/upstreams/run.ts'
import { REPOSITORY, TAG } from '../image.ts'

const ENTRY = join(import.meta.dirname, 'run-upstreams.ts')
const NAME = 'upstreams'
const FOLDER = '/upstreams'
const FILE = 'run.mjs'

/** Fails until all servers listen. They do on 127.0.0.1 only, which the kubelet cannot ask. */
const PROBE = `for (const port of ${JSON.stringify([...USUAL_PORTS.values()])}) fetch('http://127.0.0.1:' + port).catch(() => process.exit(1))`

/** A ConfigMap with the servers of the quickstart as one file. */
export async function upstreamsConfigMap(): Promise<object> {
  // Modules that start their server when they are the program are parts of one here.
  const define = { 'import.meta.main': 'false' }
  await using bundle = await rolldown({ input: ENTRY, platform: 'node', transform: { define } })
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
    startupProbe: {
      exec: { command: ['node', '-e', PROBE] },
      periodSeconds: 1,
      timeoutSeconds: 10,
      failureThreshold: 60,
    },
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

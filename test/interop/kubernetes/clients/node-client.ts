/** Uses the API of a gateway through the official client for JavaScript. Prints one line per check: its name, and what was seen. */

const [packages, kubeconfig] = process.argv.slice(2)
const client = await import(`${packages}/node_modules/@kubernetes/client-node/dist/index.js`)

const config = new client.KubeConfig()
config.loadFromFile(kubeconfig)
const core = config.makeApiClient(client.CoreV1Api)
const custom = config.makeApiClient(client.CustomObjectsApi)
const of = { group: 'gatewright.dev', version: 'v1alpha1', namespace: 'default', plural: 'proxybackends' }

function say(name: string, seen: unknown): void {
  console.log(`${name}\t${seen}`)
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 200 && !isTrue(); attempt += 1) await new Promise((next) => setTimeout(next, 100))
}

const events: string[] = []
const list = () => custom.listNamespacedCustomObject(of)
const informer = client.makeInformer(config, '/apis/gatewright.dev/v1alpha1/namespaces/default/proxybackends', list)
for (const verb of ['add', 'update', 'delete']) {
  informer.on(verb, (object: { metadata: { name: string } }) => events.push(`${verb} ${object.metadata.name}`))
}
await informer.start()
const metadata = { name: 'node' }
const body = {
  apiVersion: 'gatewright.dev/v1alpha1',
  kind: 'ProxyBackend',
  metadata,
  spec: { static: { host: 'a.test', port: 80 } },
}
await custom.createNamespacedCustomObject({ ...of, body })
// A status that is written between the read and the write would be a conflict.
await until(() => events.includes('update node'))
const read = await custom.getNamespacedCustomObject({ ...of, name: 'node' })
await custom.replaceNamespacedCustomObject({
  ...of,
  name: 'node',
  body: { ...read, metadata: { ...read.metadata, labels: { a: 'b' } } },
})
await custom.deleteNamespacedCustomObject({ ...of, name: 'node' })
await until(() => events.includes('delete node'))
say('informer', [...new Set(events)].join(', '))
await informer.stop()

const made = await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata, data: { a: '1' } } })
say('typed', made.data.a)
await core.deleteNamespacedConfigMap({ namespace: 'default', name: 'node' })
try {
  await custom.createNamespacedCustomObject({ ...of, body: { ...body, spec: {} } })
} catch (error) {
  say('invalid', (error as { code: number }).code)
}
process.exit(0)

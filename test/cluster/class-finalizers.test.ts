import { expect, onTestFinished, test } from 'vitest'
import type { ApiObject } from '#api/object.ts'
import { ClassFinalizers } from '#cluster/statuses/class-finalizers.ts'
import { connectToTestServer } from './connect-to-test-server.ts'

const CLASSES = '/apis/gateway.networking.k8s.io/v1/gatewayclasses'
const CONTROLLER = 'example.com/ours'
const FINALIZER = 'gateway-exists-finalizer.gateway.networking.k8s.io'

function gatewayClass(name: string, controllerName: string): ApiObject {
  const metadata = { name, namespace: '' }
  const origin = { kind: 'GatewayClass', namespace: '', name }
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata,
    spec: { controllerName },
    origin,
  }
}

function gateway(gatewayClassName: string): ApiObject {
  const name = { namespace: 'default', name: `of-${gatewayClassName}` }
  const origin = { kind: 'Gateway', ...name }
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: name,
    spec: { gatewayClassName },
    origin,
  }
}

test('our classes have the finalizer while a Gateway uses them', async () => {
  const { server, client } = await connectToTestServer()
  const failures: string[] = []
  const finalizers = new ClassFinalizers({
    client,
    controller: CONTROLLER,
    failed: (message) => failures.push(message),
  })
  onTestFinished(() => finalizers[Symbol.dispose]())
  const classes = [gatewayClass('ours', CONTROLLER), gatewayClass('theirs', 'example.com/other')]
  for (const { apiVersion, kind, metadata, spec } of classes) {
    const body = { apiVersion, kind, metadata: { name: metadata.name, finalizers: ['example.com/kept'] }, spec }
    await server.call(CLASSES, { method: 'POST', body })
  }
  const finalizersOf = async (name: string) => (await server.call(`${CLASSES}/${name}`)).body.metadata.finalizers

  finalizers.update([...classes, gateway('ours'), gateway('theirs')])
  await expect.poll(() => finalizersOf('ours')).toEqual(['example.com/kept', FINALIZER])
  expect(await finalizersOf('theirs')).toEqual(['example.com/kept'])

  finalizers.update(classes)
  await expect.poll(() => finalizersOf('ours')).toEqual(['example.com/kept'])
  expect(failures).toEqual([])
})

test('a class that is being deleted gets no finalizer, and one that is gone is no error', async () => {
  const { client } = await connectToTestServer()
  const failures: string[] = []
  const finalizers = new ClassFinalizers({
    client,
    controller: CONTROLLER,
    failed: (message) => failures.push(message),
  })
  onTestFinished(() => finalizers[Symbol.dispose]())
  const replaced: string[] = []
  const asked: string[] = []
  client.get = (path) => {
    asked.push(path)
    const metadata = { name: 'ours', deletionTimestamp: '2026-11-29T07:00:00Z' }
    return Promise.resolve(path.endsWith('/ours') ? { status: 200, body: { metadata } } : { status: 404, body: {} })
  }
  client.replace = (path) => Promise.resolve({ status: replaced.push(path), body: {} })
  const classes = ['ours', 'gone'].map((name) => gatewayClass(name, CONTROLLER))
  finalizers.update([...classes, gateway('ours'), gateway('gone')])
  await expect.poll(() => asked).toEqual([`${CLASSES}/ours`, `${CLASSES}/gone`])
  expect([replaced, failures]).toEqual([[], []])
})

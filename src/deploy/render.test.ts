import { expect, test } from 'vitest'
import type { GatewayObject } from '#api/gateway.ts'
import type { ProxyParametersObject, ProxyParametersSpec } from '#api/proxy-parameters.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { type RenderInput, render } from './render.ts'
import { defaultSettings } from './settings.ts'

// What options change is in test/cases/render.

const SETTINGS = { ...defaultSettings('1.2.3'), image: { registry: '', repository: 'proxy', tag: 'pinned' } }

function rendered({
  metadata,
  spec,
  ...input
}: Partial<RenderInput> & { metadata?: object; spec?: ProxyParametersSpec } = {}) {
  const gateway = admitObject({
    kind: 'Gateway',
    metadata: { name: 'main', ...metadata },
    spec: { gatewayClassName: 'gatewright', listeners: [] },
  }) as unknown as GatewayObject
  const parameters =
    spec === undefined ? [] : [admitObject({ kind: 'ProxyParameters', metadata: { name: 'own' }, spec })]
  const result = render({
    gateway,
    ports: [80],
    parameters: parameters as unknown as readonly ProxyParametersObject[],
    settings: SETTINGS,
    ...input,
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all objects
  const find = (kind: string): any => result.objects?.find((object) => object.kind === kind)
  return { ...result, find, pod: find('Deployment')?.spec.template }
}

test('the Gateway owns all objects once it has a uid', () => {
  const owner = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', name: 'main', uid: 'u-1' }
  const { objects = [], sessionKeySecret } = rendered({
    metadata: { uid: 'u-1' },
    spec: { podDisruptionBudget: {}, horizontalPodAutoscaler: {} },
  })
  expect(objects.map(({ kind }) => kind)).toEqual([
    'ConfigMap',
    'ServiceAccount',
    'Service',
    'Deployment',
    'PodDisruptionBudget',
    'HorizontalPodAutoscaler',
  ])
  for (const { metadata } of [...objects, sessionKeySecret!])
    expect(metadata.ownerReferences).toEqual([{ ...owner, controller: true, blockOwnerDeletion: true }])
  expect(rendered().find('Service').metadata).not.toHaveProperty('ownerReferences')
})

test('another session key restarts the pods, but not where the pods have a key of their own', () => {
  const checksum = (input: Parameters<typeof rendered>[0]) =>
    rendered(input).pod.metadata.annotations['checksum/session-key']
  expect(checksum({})).toBeUndefined()
  expect(checksum({ sessionKey: 'a' })).toMatch(/^[0-9a-f]{64}$/)
  expect(checksum({ sessionKey: 'b' })).not.toBe(checksum({ sessionKey: 'a' }))
  expect(checksum({ sessionKey: 'a', spec: { env: [{ name: 'SESSION_KEY', value: '0'.repeat(64) }] } })).toBeUndefined()
})

test('neither another authority nor another version of the controller restarts the pods', () => {
  const { pod, find } = rendered()
  const later = rendered({ settings: { ...SETTINGS, version: '2.0.0', authority: 'PEM' } })
  expect(later.pod).toEqual(pod)
  expect(later.find('ConfigMap').data['ca.crt']).toBe('PEM')
  expect(find('ConfigMap').data).not.toHaveProperty('ca.crt')
})

test.each([
  ['more processors than workers are possible', { cpu: 1000 }, 'workers: 256'],
  ['a part of a processor', { cpu: '100m' }, 'workers: 1'],
  ['no quantity of processors', { cpu: '-1' }, 'workers: 2'],
  ['none', {}, 'workers: 2'],
])('limits: %s', (_, limits, workers) => {
  expect(rendered({ spec: { resources: { limits } } }).find('ConfigMap').data['config.yaml']).toBe(`${workers}\n`)
})

test.each([
  ['registry, tag and digest', { registry: 'r', tag: 't', digest: 'sha256:0' }, 'r/proxy:t@sha256:0'],
  ['without registry', {}, 'proxy:pinned'],
  ['without tag', { tag: '', digest: 'sha256:0' }, 'proxy@sha256:0'],
])('image %s', (_, image, text) => {
  expect(rendered({ spec: { image } }).pod.spec.containers[0].image).toBe(text)
})

import { expect, test } from 'vitest'
import type { ProxyPolicyObject } from '#api/proxy-policy.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { inContext } from '../testing.ts'
import type { TargetAttachment } from './attach-policy.ts'
import { translatePolicy } from './translate-policy.ts'

const TARGET = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }
const HERE: TargetAttachment = {
  target: 'Gateway/default/main',
  level: 'Gateway',
  title: 'Gateway default/main',
  kind: 'Gateway',
  object: 'Gateway/default/main',
  section: undefined,
  path: 'spec.targetRefs[0]',
}

const objects = [
  { kind: 'Secret', metadata: { name: 'key' }, stringData: { Authorization: 'x' } },
  { kind: 'Service', metadata: { name: 'judge' }, spec: { ports: [{ port: 80 }] } },
].map(admitObject)

function translate(sections: object, isAttached = true) {
  const object = admitObject({
    kind: 'ProxyPolicy',
    metadata: { name: 'guards' },
    spec: { targetRefs: [TARGET], ...sections },
  }) as ProxyPolicyObject
  const attached = { object, attachments: isAttached ? [HERE] : [], unattached: [] }
  const { result, findings } = inContext(objects, (context) =>
    translatePolicy(context, attached, context.reportOn(object)),
  )
  const { items, backends, calls, material } = result
  return {
    items: items.map(({ section, field, target, level }) => `${level} ${target}: ${section}.${field}`),
    ...{ backends, calls, material },
    found: findings.map(({ path, code }) => `${path} ${code}`),
  }
}

/** A guard whose service is described by the guard itself, with a key of its own. */
const judging = (secret: string) => ({
  backend: {
    ai: { promptGuard: { request: [{ moderationEndpoint: { policies: { auth: { secretRef: { name: secret } } } } }] } },
  },
})
const GUARD = 'spec.backend.ai.promptGuard.request[0].moderationEndpoint'
const JUDGE = `ProxyBackend/default/ProxyPolicy:guards:${GUARD}`

test('each field of each section is an item for its target', () => {
  const { items } = translate({
    frontend: { tcp: { keepalive: {} } },
    traffic: { csrf: {}, cors: { allowOrigins: ['*'] } },
    backend: { tcp: { connectTimeout: '1s' } },
  })
  expect(items).toEqual([
    'Gateway Gateway/default/main: frontend.tcp',
    'Gateway Gateway/default/main: traffic.csrf',
    'Gateway Gateway/default/main: traffic.cors',
    'Gateway Gateway/default/main: backend.tcp',
  ])
})

test('a service that a guard describes is a backend, with policies of its own', () => {
  expect(translate(judging('key'))).toMatchObject({
    items: ['Gateway Gateway/default/main: backend.ai', `BackendInline ${JUDGE}: backend.auth`],
    backends: [{ key: JUDGE, broken: undefined }],
    found: [],
  })
  expect(new Set(translate(judging('key')).material)).toEqual(new Set(['Secret/default/key']))
})

test('such a service without its Secret is no backend to use, and this is reported once', () => {
  const path = `${GUARD}.policies.auth.secretRef`
  const { backends, material, found } = translate(judging('gone'))
  expect(backends).toMatchObject([{ key: JUDGE, broken: expect.stringMatching(`^${RegExp.escape(path)}: `) }])
  expect(material).toEqual([])
  expect(found).toEqual([`${path} secret-not-found`])
})

test('a policy without a target asks for nothing, and its references are checked', () => {
  const nothing = { items: [], backends: [], calls: [], material: [] }
  expect(translate(judging('key'), false)).toEqual({ ...nothing, found: [] })
  expect(translate(judging('gone'), false)).toMatchObject({ ...nothing, found: [expect.any(String)] })
})

test('a target calls the backends that its fields refer to', () => {
  const { calls } = translate({ traffic: { extAuth: { backendRef: { name: 'judge', port: 80 }, http: {} } } })
  expect(calls).toEqual([{ from: 'Gateway/default/main', to: 'Service/default/judge/80' }])
})

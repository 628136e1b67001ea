import { expect, test } from 'vitest'
import type { ApiObject } from '#api/object.ts'
import { MemoryStore } from './memory.ts'

function configMap(name: string): ApiObject {
  const identity = { namespace: 'default', name }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: identity, origin: { kind: 'ConfigMap', ...identity } }
}

test('puts, replaces and removes objects, and says that something changed', () => {
  const store = new MemoryStore([configMap('a')])
  let calls = 0
  store.subscribe(() => calls++)
  const before = store.list()
  const replacement = configMap('a')
  store.put(replacement)
  store.put(configMap('b'))
  expect(before).toHaveLength(1)
  expect(store.list().map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
  expect(store.get('ConfigMap/default/a')).toBe(replacement)
  expect(store.remove('ConfigMap/default/a')).toBe(true)
  expect(store.remove('ConfigMap/default/a')).toBe(false)
  expect(calls).toBe(3)
  expect(store.list()).toBe(store.list())
})

test('statuses do not count as changes and go with their objects', () => {
  const store = new MemoryStore([configMap('a'), configMap('b')])
  let calls = 0
  store.subscribe(() => calls++)
  store.writeStatus('ConfigMap/default/a', 1)
  store.writeStatus('ConfigMap/default/b', 2)
  store.writeStatus('ConfigMap/default/c', 3)
  expect(calls).toBe(0)
  expect(store.statusOf('ConfigMap/default/c')).toBeUndefined()
  store.remove('ConfigMap/default/a')
  expect(store.statusOf('ConfigMap/default/a')).toBeUndefined()
  store.withdrawStatus('ConfigMap/default/b')
  expect(store.statusOf('ConfigMap/default/b')).toBeUndefined()
  store.writeStatus('ConfigMap/default/b', 2)
  store.replaceAll([configMap('b')])
  expect(store.statusOf('ConfigMap/default/b')).toBe(2)
  store.replaceAll([])
  expect(store.statusOf('ConfigMap/default/b')).toBeUndefined()
})

test('one subscription ends without the others', () => {
  const store = new MemoryStore()
  let calls = 0
  const listener = () => calls++
  const stop = store.subscribe(listener)
  store.subscribe(listener)
  stop()
  store.put(configMap('a'))
  expect(calls).toBe(1)
})

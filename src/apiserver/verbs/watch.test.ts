import { expect, test } from 'vitest'
import { configMap } from '#store/database/testing.ts'
import { ResourceTable } from '#store/resources/resource-table.ts'
import { builtInKinds } from '../platform-rules/built-in-kinds.ts'
import type { ResourceRequest } from './resource-request.ts'
import { Watches } from './watch.ts'

const CONFIG_MAPS = builtInKinds().find(({ kind }) => kind === 'ConfigMap')!
const MIB = 1024 * 1024

function watchOf(query: string): ResourceRequest {
  const { group, version, plural } = CONFIG_MAPS
  const target = {
    type: 'resource',
    group,
    version,
    plural,
    namespace: undefined,
    name: undefined,
    subresource: undefined,
  } as const
  const form = { encoding: 'json', as: 'object' } as const
  return { kind: CONFIG_MAPS, target, query: new URLSearchParams(query), form, body: undefined, userAgent: '' }
}

/** A client that never reads, so that all output stays queued. */
function stuckClient() {
  let ends = 0
  let waitingBytes = 0
  return {
    write(piece: Buffer): void {
      waitingBytes += piece.length
    },
    end(): void {
      ends += 1
    },
    get waitingBytes(): number {
      return waitingBytes
    },
    get ends(): number {
      return ends
    },
  }
}

test('a client that reads nothing is disconnected when too much waits for it', () => {
  const table = new ResourceTable()
  const watches = new Watches(table)
  const client = stuckClient()
  watches.open(watchOf('resourceVersion=1'), client)
  const change = () => {
    const key = { collection: 'configmaps', namespace: 'default', name: 'a' }
    table.commit([{ key, object: configMap('a', 'x'.repeat(MIB)).object }])
  }
  for (let count = 0; count < 15; count += 1) change()
  expect(client.ends).toBe(0)
  change()
  expect(client.ends).toBe(1)
  const { waitingBytes } = client
  change()
  expect(client.waitingBytes).toBe(waitingBytes)
  watches.close()
  expect(client.ends).toBe(1)
})

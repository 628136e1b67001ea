import { expect, test, vi } from 'vitest'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { MetricsExporter } from './metrics-exporter.ts'

test('the last export waits two seconds for its server', async () => {
  using time = new VirtualTime()
  vi.stubGlobal('fetch', (_: URL, { signal }: { signal: AbortSignal }) => {
    const { promise, reject } = Promise.withResolvers()
    signal.addEventListener('abort', () => reject(new Error('aborted')))
    return promise
  })
  const url = new URL('http://127.0.0.1:4318/v1/metrics')
  const exporter = new MetricsExporter({
    destination: { url, protocol: 'http/protobuf', headers: [], timeoutMs: 10_000 },
    intervalMs: 60_000,
    identity: { podName: undefined, namespace: undefined },
    version: '1',
    read: () => [],
    delivered: vi.fn(),
    dropped: vi.fn(),
    log: vi.fn(),
  })
  const closed = exporter.close()
  await time.pass(2000)
  await closed
  expect(exporter.failure?.cause).toBe('no answer within 2000 ms')
  vi.unstubAllGlobals()
})

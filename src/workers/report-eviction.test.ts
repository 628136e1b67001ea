import { expect, test } from 'vitest'
import { MetricsReader } from '#observe/metrics/metrics-reader.ts'
import { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import { evictionReporter } from './report-eviction.ts'

test('each eviction is counted for its endpoint and logged with its cause', () => {
  const reader = new MetricsReader({ hide: (text) => text, folded: () => {}, firstFolded: () => {} })
  const logged: unknown[] = []
  const report = evictionReporter(new MetricsWriter((update) => reader.add('w1', update)), (...entry) =>
    logged.push(entry),
  )
  const endpoint = { backend: 'Service/default/web/80', endpoint: '10.0.0.1:80' }
  report(endpoint, { timeMs: 3000, cause: 'consecutive failures', sign: 503 })
  report(endpoint, { timeMs: 6000, cause: 'consecutive failures', sign: 'no response' })
  expect(reader.text()).toContain('{backend="default/web",endpoint="10.0.0.1:80"} 2\n')
  const fields = { backend: 'default/web', endpoint: '10.0.0.1:80', cause: 'consecutive failures' }
  expect(logged).toEqual([
    ['proxy', 'warn', 'an endpoint is evicted', { ...fields, seconds: 3, last: 'status 503' }],
    ['proxy', 'warn', 'an endpoint is evicted', { ...fields, seconds: 6, last: 'no response' }],
  ])
})

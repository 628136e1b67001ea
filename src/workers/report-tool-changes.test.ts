import { expect, test } from 'vitest'
import { MetricsReader } from '#observe/metrics/metrics-reader.ts'
import { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import { toolChangeReporter } from './report-tool-changes.ts'

test('changed tools are counted and logged, new ones that are refused only logged', () => {
  const reader = new MetricsReader({ hide: (text) => text, folded: () => {}, firstFolded: () => {} })
  const logged: unknown[] = []
  const report = toolChangeReporter(new MetricsWriter((update) => reader.add('w1', update)), (...entry) =>
    logged.push(entry),
  )
  const of = (state: 'new' | 'changed', isRefused: boolean, name = 'x') => ({ name, digest: 'd', state, isRefused })
  const from = { backend: 'ProxyBackend/default/tools', target: 'a' }
  report({ ...from, tools: [of('changed', false), of('new', true), of('changed', true, 'y')] })
  report({ ...from, tools: Array.from({ length: 100 }, () => of('changed', false)) })
  expect(reader.text()).toContain('gatewright_mcp_tool_changes_total{backend="default/tools",server="a"} 102\n')
  const fields = { backend: 'default/tools', target: 'a' }
  expect(logged).toEqual([
    ['proxy', 'warn', 'tools of an MCP target have changed; they are refused', { ...fields, tools: 'y=d' }],
    ['proxy', 'warn', 'tools of an MCP target have changed', { ...fields, tools: 'x=d' }],
    ['proxy', 'warn', 'tools of an MCP target are not accepted; they are refused', { ...fields, tools: 'x=d' }],
    [
      'proxy',
      'warn',
      'tools of an MCP target have changed',
      { ...fields, tools: Array.from({ length: 64 }, () => 'x=d').join(' '), more: 36 },
    ],
  ])
})

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findingLines } from '#cli/finding-lines.ts'
import { loadPlan } from '#cli/load-plan.ts'
import { compileExpression } from '#exchange/compile-expression.ts'
import { Exchange } from '#exchange/exchange.ts'
import type { ExpressionEnvironment } from '#exchange/expression.ts'
import { wholeBody } from '#exchange/known-body.ts'
import { undeliveredAt, variablesAt } from '#exchange/variables/environments.ts'
import { Head } from '#net/http/head.ts'
import { FileStore } from '#store/files.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { verifies } from '#test/support/verifies.ts'
import { isUpdate } from '../cases/golden-case.ts'

const GUIDE = 'docs/guides/expressions.md'
const guide = readFileSync(GUIDE, 'utf8')

function sampleExchange(): Exchange {
  const request = Head.request('POST', '/shop/cart?tag=x&tag=y')
  for (const [name, value] of [
    ['host', 'example.com'],
    ['x-tenant', 'acme'],
    ['x-many', 'a'],
    ['x-many', 'b,c'],
    ['cookie', 'session=s1; theme=dark'],
  ] as const) {
    request.append(name, value)
  }
  const exchange = new Exchange(request, {
    remoteAddress: '10.1.2.3',
    remotePort: 4711,
    rawAddress: '10.1.2.3',
    rawPort: 4711,
    localAddress: '127.0.0.1',
    localPort: 8080,
    secure: false,
    serverName: undefined,
    certificate: undefined,
  })
  exchange.requestBody = wholeBody(new TextEncoder().encode('{"model":"m","items":["book"]}'))
  exchange.identity.jwt = { claims: { sub: 'ann' }, token: 'head.payload.signature' }
  return exchange
}

/** Rows whose last cells are an expression and its result as JSON. */
const examples = [...guide.matchAll(/`([^`\n]+)` \| `([^`\n]+)` \|$/gm)].map(([, source = '', result = '']) => ({
  source: source.replaceAll('\\|', '|'),
  result: JSON.parse(result) as unknown,
}))

test.each(examples)('$source', ({ source, result }) => {
  const problems: string[] = []
  const report = ({ code, message }: { code: string; message: string }) => {
    // Examples without variables always give the same.
    if (code !== 'cel-constant') problems.push(message)
  }
  const expression = compileExpression(source, 'request', report)
  expect(problems).toEqual([])
  expect(expression.json(sampleExchange())).toEqual(result)
})

test('there are examples', () => {
  expect(examples.length).toBeGreaterThan(50)
})

test('the first expression is right, and can be a rule', () => {
  const [, source = ''] = /```\n(.*?)\n```/s.exec(guide) ?? []
  const problems: unknown[] = []
  const expression = compileExpression(source, 'request', (problem) => problems.push(problem), { use: 'condition' })
  expect(problems).toEqual([])
  const exchange = sampleExchange()
  expect(expression.isTrue(exchange)).toBe(false)
  exchange.request = Head.request('GET', '/public/x')
  expect(expression.isTrue(exchange)).toBe(true)
})

test('what lint says is what it says', () => {
  const [, sample = ''] = /```\n(policies\.yaml:.*?)\n```/s.exec(guide) ?? []
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'gateway.yaml'), GATEWAY)
  writeFileSync(join(folder, 'policies.yaml'), MISTAKEN)
  const store = new FileStore([folder])
  const { lines } = findingLines(store, loadPlan(store).findings)
  expect(lines.join('\n').replaceAll(`${folder}/`, '')).toBe(sample)
})

/** The rule of the sample, where the sample says that it stands. */
const MISTAKEN = `apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata:
  name: rules
spec:
  targetRefs:
    - { group: gateway.networking.k8s.io, kind: Gateway, name: main }
  traffic:
    authorization:
      policy:
        matchExpressions:
          - request.header["x-role"] == "admin"
`

const GATEWAY = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: main }
spec:
  gatewayClassName: gatewright
  listeners: [{ name: http, port: 8080, protocol: HTTP }]
---
`

verifies('scalar/cel-expression-language', 'the objects of the guide have nothing wrong with them', () => {
  const objects = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => yaml)
  expect(objects.length).toBeGreaterThan(1)
  const file = join(temporaryFolder(), 'objects.yaml')
  writeFileSync(file, GATEWAY + objects.join('---\n'))
  const store = new FileStore([file])
  expect(findingLines(store, loadPlan(store).findings).lines).toEqual([])
})

/** Columns of the table of variables. */
const COLUMNS: readonly (readonly [title: string, place: ExpressionEnvironment])[] = [
  ['Connections', 'network'],
  ['Requests', 'request'],
  ['MCP rules', 'mcp'],
  ['LLM fields', 'llm'],
  ['Responses', 'response'],
  ['Health', 'health'],
  ['Logs, traces', 'log'],
  ['Metrics', 'metric'],
]

function variableTable(): string {
  const titles = COLUMNS.map(([title]) => title)
  const header = `| Variable | Type | ${titles.join(' | ')} |\n| --- | --- |${' --- |'.repeat(titles.length)}\n`
  const named = COLUMNS.map(([, place]) => new Map(variablesAt(place).map((variable) => [variable.path, variable])))
  const rows = [...named[0]!.keys()].flatMap((path) => {
    const found = named.map((variables) => variables.get(path)!)
    const readable = found.find((variable) => !('unavailable' in variable))
    if (readable === undefined || 'unavailable' in readable) return []
    const isMaybe = readable.always !== true && !String(readable.type).startsWith('wrapper')
    const cells = found.map((variable, i) => {
      if ('unavailable' in variable) return ''
      return undeliveredAt(COLUMNS[i]![1]).has(path) ? 'not yet' : 'yes'
    })
    return `| \`${path}\` | ${readable.type}${isMaybe ? ', *maybe*' : ''} | ${cells.join(' | ')} |\n`
  })
  const notYet = [...named[0]!.keys()].filter(
    (path) => named.every((variables) => 'unavailable' in variables.get(path)!) && path !== 'llmRequest',
  )
  const names = notYet.map((path) => `\`${path}\``).join(', ')
  const above = rows.some((row) => row.includes('not yet')) ? ', and *not yet* above' : ''
  return `${header}${rows.join('')}\nNot implemented yet (lint reports them): ${names}${above}.\n`
}

test('the table of variables is that of the gateway', () => {
  const start = guide.indexOf('-->\n', guide.indexOf('<!-- variables')) + 4
  const end = guide.indexOf('<!-- end -->')
  const table = `\n${variableTable()}\n`
  if (isUpdate) writeFileSync(GUIDE, guide.slice(0, start) + table + guide.slice(end))
  else expect(guide.slice(start, end)).toBe(table)
})

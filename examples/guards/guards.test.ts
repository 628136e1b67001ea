import { afterAll, beforeAll, expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { copyWithPorts } from '../quickstart/copy-with-ports.ts'
import { startLlm } from '../upstreams/llm.ts'

const stops = new AsyncDisposableStack()
let port: number

beforeAll(async () => {
  const llm = await startLlm({ port: 0 })
  stops.defer(llm.close)
  port = await freePort()
  const ports = new Map([
    [18_446, port],
    [9406, llm.port],
  ])
  const objects = await copyWithPorts(import.meta.dirname, ports)
  stops.defer(objects.remove)
  stops.use(await startGateway({ files: [objects.folder], workers: 1 }))
})
afterAll(() => stops.disposeAsync())

const ask = (content: string, stream = false) =>
  fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'mock-small', stream, messages: [{ role: 'user', content }] }),
  })

test('the objects have no problems', async () => {
  const { code, stdout } = await gatewright(['lint', '--fail-on', 'warnings', 'examples/guards'])
  expect([code, stdout]).toEqual([0, '4 objects: nothing to report\n'])
})

test('masks what leaves, and what comes back', async () => {
  const text = await (await ask('Write to ann@example.org about key-abcd1234')).text()
  expect(JSON.parse(text).choices[0].message.content).toContain('Write to <EMAIL_ADDRESS> about <masked>')
  const events = await (await ask('Write to ann@example.org about key-abcd1234', true)).text()
  const pieces = [...events.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map(([, piece]) => JSON.parse(piece!))
  expect(pieces.join('')).toContain('Write to <EMAIL_ADDRESS> about <masked>')
})

test('refuses prompts about the project', async () => {
  const response = await ask('What is Project Bluebird?')
  expect([response.status, await response.text()]).toEqual([422, 'Please do not write about this project.'])
})

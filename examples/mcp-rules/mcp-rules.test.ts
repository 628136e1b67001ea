import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder } from '#test/support/objects-folder.ts'
import { startNotes } from '../upstreams/mcp.ts'

const FILE = join(import.meta.dirname, 'gateway.yaml')

test('the objects have no problem', async () => {
  expect(await gatewright(['lint', FILE, '--fail-on', 'warnings'])).toMatchObject({
    code: 0,
    stdout: '6 objects: nothing to report\n',
  })
})

test('the intern reads notes, and the owner writes short ones', async () => {
  await using stops = new AsyncDisposableStack()
  const notes = await startNotes({ port: 0 })
  stops.defer(notes.close)
  const port = await freePort()
  const ports: Readonly<Record<string, number>> = { 8080: port, 9122: notes.port }
  const text = readFileSync(FILE, 'utf8').replace(/\b(8080|9122)\b/g, (usual) => String(ports[usual]))
  const folder = await createObjectsFolder({ 'gateway.yaml': text })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 2 }))
  const connect = async (key: string) => {
    const client = new Client({ name: 'test', version: '1' })
    const requestInit = { headers: { authorization: `Bearer ${key}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), { requestInit }))
    stops.defer(() => client.close())
    return client
  }
  const add = (note: string) => ({ name: 'add', arguments: { text: note } })

  const ann = await connect('key-of-ann')
  await expect(ann.callTool(add('short'))).rejects.toThrow('Unknown tool: add')
  expect((await ann.callTool({ name: 'search', arguments: { query: 'port' } })).isError).not.toBe(true)
  expect((await ann.listTools()).tools.map(({ name }) => name)).toEqual(['search'])
  expect((await ann.listPrompts()).prompts).toHaveLength(1)

  const bob = await connect('key-of-bob')
  expect((await bob.listTools()).tools.map(({ name }) => name)).toEqual(['add', 'search'])
  expect((await bob.callTool(add('short'))).isError).not.toBe(true)
  await expect(bob.callTool(add('long'.repeat(50)))).rejects.toThrow('Unknown tool: add')
})

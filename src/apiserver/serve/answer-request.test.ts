import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer } from '../testing.ts'
import { RequestAnswerer } from './answer-request.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

let server: Awaited<ReturnType<typeof startTestServer>>
let answerer: RequestAnswerer

beforeAll(async () => {
  server = await startTestServer()
  answerer = new RequestAnswerer(server.context, () => true)
})
afterAll(() => server.close())

/** A request whose body has not arrived yet; `send` is the rest of it. */
function begin(method: string, url: string, socket = new Socket(), more: Readonly<Record<string, string>> = {}) {
  const request = new IncomingMessage(socket)
  Object.assign(request, { method, url, headers: { 'content-type': 'application/json', ...more } })
  const response = new ServerResponse(request)
  const answered = answerer.answer(request, response)
  const send = (body: string): void => {
    request.push(body)
    request.push(null)
  }
  return { response, answered, send }
}

test('more requests at a time than the limit are refused with 429, but not questions about the health', async () => {
  const waiting = Array.from({ length: 400 }, () => begin('POST', CONFIG_MAPS))
  const refused = begin('GET', CONFIG_MAPS)
  await refused.answered
  expect([refused.response.statusCode, refused.response.getHeader('retry-after')]).toEqual([429, 1])
  const healthy = begin('GET', '/healthz')
  await healthy.answered
  expect(healthy.response.statusCode).toBe(200)
  waiting[0]!.send('{}')
  await waiting[0]!.answered
  const next = begin('GET', CONFIG_MAPS)
  await next.answered
  expect(next.response.statusCode).toBe(200)
  for (const { send } of waiting.slice(1)) send('')
  await Promise.all(waiting.map(({ answered }) => answered))
})

test('requests of one connection are answered in their order', async () => {
  const socket = new Socket()
  const create = begin('POST', CONFIG_MAPS, socket)
  const remove = begin('DELETE', `${CONFIG_MAPS}/a`, socket)
  const other = begin('GET', CONFIG_MAPS)
  await other.answered
  remove.send('')
  create.send('{"metadata": {"name": "a"}}')
  await Promise.all([create.answered, remove.answered])
  expect([create.response.statusCode, remove.response.statusCode]).toEqual([201, 200])
})

test('a body of unknown length is refused as soon as it is too long', async () => {
  const create = begin('POST', CONFIG_MAPS)
  create.send('x'.repeat(3 * 1024 * 1024 + 1))
  await create.answered
  expect(create.response.statusCode).toBe(413)
})

test('a body that says that it is too long is refused before it arrives', async () => {
  const create = begin('POST', CONFIG_MAPS, new Socket(), { 'content-length': String(3 * 1024 * 1024 + 1) })
  await create.answered
  expect(create.response.statusCode).toBe(413)
})

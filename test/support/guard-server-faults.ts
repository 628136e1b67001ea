import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { answerJson } from './json-server.ts'

// Guard servers that do not answer as they should.

export type GuardAnswer = (response: ServerResponse) => void
/** Lets texts pass, or says something else with status 200. */
export const allows =
  (body: unknown = { action: {} }): GuardAnswer =>
  (response) =>
    answerJson(response, body)
const MIB = 1024 * 1024

/** Answers after which a guard has failed, by name. Those that are slow need `FAULT_LIMIT`. */
export const FAULTS: Readonly<Record<string, GuardAnswer>> = {
  slow: () => {},
  'slow-body': (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{"action":'),
  closes: (response) => void response.destroy(),
  cut: (response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"action":{}}')
    setTimeout(() => response.destroy(), 20)
  },
  huge: allows({ action: {}, more: 'a'.repeat(2 * MIB) }),
  endless: (response) => {
    response.writeHead(200)
    const more = () => {
      while (response.writable && response.write(Buffer.alloc(65_536, ' ')));
    }
    response.on('drain', more)
    more()
  },
  compressed: (response) => {
    const body = gzipSync(JSON.stringify({ action: {} }))
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' }).end(body)
  },
  redirect: (response) => void response.writeHead(307, { location: '/elsewhere' }).end('{"action":{}}'),
  'not-found': (response) => answerJson(response, { action: {} }, 404),
  fault: (response) => answerJson(response, { action: {} }, 500),
  html: (response) => void response.end('<html>'),
  'too-few-texts': allows({ action: { body: { messages: [] } } }),
  'two-verdicts': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"action":{"body":"no","status_code":403},"acti\\u006fn":{}}')
  },
  'half-rejection': allows({ action: { body: 'no' } }),
}

/** For the backend of a guard server, in its policies. */
export const FAULT_LIMIT = { http: { requestTimeout: '300ms' } }

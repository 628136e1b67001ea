import { expect, test } from 'vitest'
import { specFrom } from '../../shared/testing.ts'
import { modesOf, overrideModes, protocolConfig } from './modes.ts'
import { type ExtProcSpec, trafficExtProc } from './schema.ts'

const modesWith = (processingOptions?: object) =>
  modesOf(specFrom(trafficExtProc, { backendRef: { name: 'p', port: 80 }, processingOptions }) as ExtProcSpec)

const ALL = { headers: true, body: 'FullDuplexStreamed', trailers: true }

test.each([[undefined], [{}]])('the options %j are the defaults', (options) => {
  expect(modesWith(options)).toEqual({ request: ALL, response: ALL })
})

test('every option has its own effect', () => {
  const { request, response } = modesWith({
    requestHeaderMode: 'Skip',
    requestBodyMode: 'Buffered',
    responseBodyMode: 'None',
    responseTrailerMode: 'Skip',
  })
  expect(request).toEqual({ headers: false, body: 'Buffered', trailers: true })
  expect(response).toEqual({ headers: true, body: 'None', trailers: false })
})

test.each([
  ['None', 0],
  ['Buffered', 2],
  ['BufferedPartial', 3],
  ['FullDuplexStreamed', 4],
] as const)('%s is %d on the wire', (body, number) => {
  const modes = modesWith({ requestBodyMode: body, responseBodyMode: 'None' })
  expect(protocolConfig(modes)).toEqual({
    requestBodyMode: number,
    responseBodyMode: 0,
    sendBodyWithoutWaitingForHeaderResponse: number === 4,
  })
  expect(overrideModes(modesWith(), { requestBodyMode: number }, 'request')?.request.body).toBe(body)
})

test('an override of a request changes both messages', () => {
  const override = { responseHeaderMode: 2, requestBodyMode: 1, requestTrailerMode: 2, responseTrailerMode: 0 }
  expect(overrideModes(modesWith({ responseBodyMode: 'Buffered' }), override, 'request')).toEqual({
    request: { headers: true, body: 'FullDuplexStreamed', trailers: false },
    response: { headers: false, body: 'None', trailers: true },
  })
})

test('an override of a response changes what follows its headers', () => {
  const override = { responseHeaderMode: 2, requestBodyMode: 2, responseBodyMode: 2, responseTrailerMode: 2 }
  expect(overrideModes(modesWith(), override, 'response')).toEqual({
    request: ALL,
    response: { headers: true, body: 'Buffered', trailers: false },
  })
})

test('a mode that is skipped can be sent', () => {
  const modes = modesWith({ responseHeaderMode: 'Skip', responseTrailerMode: 'Skip' })
  const changed = overrideModes(modes, { responseHeaderMode: 1, responseTrailerMode: 1 }, 'request')
  expect(changed?.response).toEqual({ headers: true, body: 'None', trailers: true })
})

test.each([
  [{ requestBodyMode: 5 }],
  [{ responseBodyMode: 9 }],
  [{ responseHeaderMode: 3 }],
  [{ requestTrailerMode: -1 }],
])('the override %j is invalid', (override) => {
  expect(overrideModes(modesWith(), override, 'request')).toBeUndefined()
})

import { afterEach, expect, test, vi } from 'vitest'
import { EXIT } from '../exit-code.ts'
import { askAdmin } from './ask-admin.ts'
import { localGateway } from './local-gateway.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

/** Asks a server that does not respond. @returns the message */
async function ask(admin: string | undefined, variable: string | undefined): Promise<string[]> {
  vi.stubEnv('GATEWRIGHT_ADMIN_ADDR', variable)
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('refused')))
  const told: string[] = []
  const answer = await askAdmin(await localGateway(admin).server(), '/status', { tell: (text) => told.push(text) })
  expect(answer).toEqual({ exitCode: EXIT.findings })
  return told
}

test.each([
  [undefined, undefined, 'http://127.0.0.1:15000/', '--admin'],
  [undefined, '', 'http://127.0.0.1:15000/', '--admin'],
  [undefined, '127.0.0.2:7', 'http://127.0.0.2:7/', 'GATEWRIGHT_ADMIN_ADDR'],
  [undefined, '[::1]:7', 'http://[::1]:7/', 'GATEWRIGHT_ADMIN_ADDR'],
  ['http://127.0.0.3:8', '127.0.0.2:7', 'http://127.0.0.3:8/', '--admin'],
  ['http://127.0.0.3:8', 'nowhere', 'http://127.0.0.3:8/', '--admin'],
])('--admin %s and the variable %s: the server at %s', async (admin, variable, url, setting) => {
  expect(await ask(admin, variable)).toEqual([
    `no gateway responds at ${url}; ${setting} is the address of its admin server`,
  ])
})

test.each([
  [
    undefined,
    'nowhere',
    'GATEWRIGHT_ADMIN_ADDR is nowhere; it must be an IP address and a port, such as 127.0.0.1:15000',
  ],
  ['127.0.0.1:15000', undefined, '--admin 127.0.0.1:15000 is not a URL with scheme http'],
  ['https://127.0.0.1', '127.0.0.2:7', '--admin https://127.0.0.1 is not a URL with scheme http'],
])('--admin %s and the variable %s: wrong usage', async (admin, variable, message) => {
  await expect(ask(admin, variable)).rejects.toThrow(message)
})

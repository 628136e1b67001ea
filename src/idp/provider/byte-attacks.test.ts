import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { JSON_BODY, OPENID, openClient, REALM } from './testing/open-client.ts'

const { provider, admin, ask, form, asAdmin, raw } = await openClient()

describe('bytes', () => {
  test.each(['a b', 'a/b', 'user@a', 'a?b', 'a#b', '"><script>', 'a:b', '', '[::1', 'a,b'])(
    'the Host %j is refused',
    async (host) => {
      const answer = await raw(`GET ${OPENID}/certs HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1.1 400 /)
    },
  )

  test.each(['localhost', 'localhost:8180', '[::1]:8180', 'idp.shop.example'])(
    'the Host %s is in the issuer',
    async (host) => {
      const path = `${REALM}/.well-known/openid-configuration`
      const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect(answer).toContain(`"issuer":"http://${host}${REALM}"`)
    },
  )

  test.each(['..', '.', '...', ''])('a realm cannot have the name %j', async (realm) => {
    expect((await asAdmin('POST', '/admin/realms', { realm })).status).toBe(400)
  })

  test.each(['__proto__', 'constructor', '..%2fmaster', '%2e%2e', '%00', '%', 'shop%2f..%2fmaster'])(
    'there is no realm, client or user %s',
    async (name) => {
      for (const path of [`realms/${name}`, `realms/shop/clients/${name}`, `realms/shop/users/${name}`]) {
        const bytes = `GET /admin/${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${admin}\r\n\r\n`
        expect(await raw(bytes.replace('Host: a', `Host: ${provider.url.host}`))).toMatch(/^HTTP\/1.1 404 /)
      }
    },
  )

  test('a body that is too large is answered before its end', async () => {
    const head = `POST ${OPENID}/token HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n`
    const answer = await raw(head + 'x'.repeat(300_000))
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
  })

  test('large heads and addresses are refused', async () => {
    expect(await raw(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 /)
    expect(await raw(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 /)
  })

  test('a client that leaves in the middle of a body is not reported as a bug', async () => {
    const socket = connect(Number(provider.url.port), '127.0.0.1')
    socket.write(`POST ${OPENID}/token HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf`)
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.destroy()
    for (let count = 0; count < 3; count += 1) expect((await ask(`${OPENID}/certs`)).status).toBe(200)
  })

  test('deep JSON and many fields are refused or ignored', async () => {
    const post = (body: string) =>
      ask('/admin/realms/shop/users', {
        method: 'POST',
        headers: { authorization: `Bearer ${admin}`, ...JSON_BODY },
        body,
      })
    expect((await post('['.repeat(100_000))).status).toBe(400)
    expect((await post(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)).status).toBe(400)
    expect((await form(`${OPENID}/token`, `a=&${'b&'.repeat(50_000)}`)).status).toBe(400)
  })
})

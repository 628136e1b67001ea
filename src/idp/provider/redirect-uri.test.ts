import { describe, expect, test } from 'vitest'
import { isAllowed } from './redirect-uri.ts'

const ORIGIN = 'http://127.0.0.1:8180'
const isAllowedFor = (redirectUris: readonly string[], uri: string) => isAllowed(uri, { redirectUris }, ORIGIN)

test.each([
  ['http://shop.example/callback', 'http://shop.example/callback'],
  ['http://shop.example/callback?a=b', 'http://shop.example/callback?a=b'],
  ['*', 'https://anywhere.example/'],
  ['*', 'com.example.app:/callback'],
  ['http://shop.example/*', 'http://shop.example/a/b?c=d'],
  ['http://shop.example*', 'http://shop.example/a'],
  ['http://shop.example:3000*', 'http://shop.example:3000/a'],
  ['http://shop.example/a*', 'http://shop.example/a/b'],
  ['http://shop.example/a*', 'http://shop.example/about'],
  ['http://shop.example/a?b=*', 'http://shop.example/a?b=c'],
  ['HTTP://Shop.example/*', 'http://shop.example/a'],
  ['com.example.app:/*', 'com.example.app:/callback'],
  ['/realms/shop/account', `${ORIGIN}/realms/shop/account`],
  ['/realms/shop/*', `${ORIGIN}/realms/shop/account`],
])('%s allows %s', (allowed, uri) => {
  expect(isAllowedFor(['http://other.example/', allowed], uri)).toBe(true)
})

describe('of other hosts, schemes and paths', () => {
  const callback = 'http://shop.example/callback'
  test.each([
    [callback, `${callback}/`],
    [callback, `${callback}?a=b`],
    [callback, `${callback}#a`],
    [callback, `${callback}#`],
    [callback, 'http://shop.example/Callback'],
    [callback, 'http://shop.example/call%62ack'],
    [callback, 'http://SHOP.example/callback'],
    [callback, 'http://shop.example:80/callback'],
    [callback, 'https://shop.example/callback'],
    [callback, 'http://user@shop.example/callback'],
    [callback, 'http://shop.example/callback/../callback'],
    ['http://127.0.0.1:9000/', 'http://127.0.0.1:9001/'],
    ['http://localhost:9000/', 'http://127.0.0.1:9000/'],
    ['*', 'http://shop.example/#a'],
    ['*', 'callback'],
    ['*', '//shop.example/'],
    ['*', 'javascript:alert(1)'],
    ['*', 'JavaScript:alert(1)'],
    ['*', '\tjava\nscript:alert(1)'],
    ['*', 'data:text/html,a'],
    ['*', 'vbscript:a'],
    ['*', 'blob:http://shop.example/a'],
    ['*', 'file:///etc/passwd'],
    ['http://shop.example*', 'http://shop.example.other.example/'],
    ['http://shop.example*', 'http://shop.example@other.example/'],
    ['http://shop.example*', 'http://shop.example:pass@other.example/'],
    ['http://shop.example*', 'http://shop.example:81/'],
    ['http://shop.example/*', 'http://user@shop.example/a'],
    ['http://shop.example/*', 'http://:pass@shop.example/a'],
    ['http://shop.example/*', 'https://shop.example/a'],
    ['http://shop.example/app/*', 'http://shop.example/app/../admin'],
    ['http://shop.example/app/*', 'http://shop.example/app/%2e%2e/admin'],
    ['http://shop.example/app/*', 'http://shop.example/app/..\\admin'],
    ['http://shop.example/app/*', 'http://shop.example/app/..%2fadmin'],
    ['http://shop.example/app/*', 'http://shop.example/app/..%5Cadmin'],
    ['http://shop.example/app/*', 'http://shop.example/app'],
    ['http://shop.example/a?b=*', 'http://shop.example/ab?b=c'],
    ['http://shop.example/a?b=*', 'http://shop.example/a?c=d'],
    ['http://*', 'http://other.example/'],
    ['//other.example/*', 'http://other.example/'],
    ['/realms/shop/account', 'http://other.example/realms/shop/account'],
    ['', 'http://other.example/'],
  ])('%s does not allow %j', (allowed, uri) => {
    expect(isAllowedFor([allowed], uri)).toBe(false)
  })

  test('a client without URIs allows none', () => {
    expect(isAllowedFor([], callback)).toBe(false)
  })
})

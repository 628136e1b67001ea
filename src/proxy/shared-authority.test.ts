import { expect, test } from 'vitest'
import { sharedAuthority } from './shared-authority.ts'

test('each request has its own authority', () => {
  const authorities = ['', 'example.com', 'example.com', 'example.com:8080', 'EXAMPLE.com', '', 'example.com']
  expect(authorities.map(sharedAuthority)).toEqual(authorities)
})

import { expect, test } from 'vitest'
import { HostTable } from './host-table.ts'

function tableOf(...hostnames: readonly string[]): HostTable<string> {
  const table = new HostTable<string>()
  for (const hostname of hostnames) table.at(hostname, () => hostname)
  return table
}

/** All matching tiers, in search order. */
function visited(table: HostTable<string>, host: string): string[] {
  const tiers: string[] = []
  table.first(host, (tier) => {
    tiers.push(tier)
    return undefined
  })
  return tiers
}

const table = tableOf('', '*.com', '*.example.com', 'example.com', 'api.example.com', '*.api.example.com')

test.each([
  ['example.com', ['example.com', '*.com', '']],
  ['api.example.com', ['api.example.com', '*.example.com', '*.com', '']],
  ['x.api.example.com', ['*.api.example.com', '*.example.com', '*.com', '']],
  ['a.b.c.api.example.com', ['*.api.example.com', '*.example.com', '*.com', '']],
  ['other.com', ['*.com', '']],
  ['badexample.com', ['*.com', '']],
  ['com', ['']],
  ['.com', ['']],
  ['127.0.0.1', ['']],
  ['[::1]', ['']],
  ['', ['']],
])('%s: exact, then the longest wildcard, then any host', (host, tiers) => {
  expect(visited(table, host)).toEqual(tiers)
})

test('the first result ends the search', () => {
  expect(table.first('api.example.com', (tier) => tier)).toBe('api.example.com')
  expect(table.first('api.example.com', (tier) => (tier === '*.com' ? 'taken' : undefined))).toBe('taken')
})

test('a host that no tier matches has no result', () => {
  const narrow = tableOf('*.example.com', 'example.com')
  expect(visited(narrow, 'example.org')).toEqual([])
  expect(narrow.first('example.org', (tier) => tier)).toBeUndefined()
})

test('a value is created once per hostname', () => {
  const lists = new HostTable<string[]>()
  for (const [hostname, word] of [
    ['*.a', 'one'],
    ['*.a', 'two'],
    ['', 'three'],
    ['*', 'four'],
  ] as const) {
    lists.at(hostname, () => []).push(word)
  }
  expect([...lists.values()]).toEqual([
    ['one', 'two'],
    ['three', 'four'],
  ])
})

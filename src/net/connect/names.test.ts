import { beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { Names, type NameUse } from './names.ts'

let now = 1000

beforeEach(() => {
  now = 1000
  vi.spyOn(clock, 'monotonic').mockImplementation(() => now)
})

type Answer = readonly string[] | 'ENOTFOUND' | 'EAI_AGAIN'

/** Names whose lookups the test answers; `pass` advances the clock. */
function setup() {
  const wheel = new TimerWheel()
  const asked: { readonly host: string; readonly answer: (answer: Answer) => void }[] = []
  let count = 0
  const names = new Names(wheel, (host, done) => {
    count++
    asked.push({
      host,
      answer: (answer) => {
        if (typeof answer !== 'string') return done(null, answer)
        done(Object.assign(new Error(`getaddrinfo ${answer}`), { code: answer }), [])
      },
    })
  })
  const pass = (ms: number) => {
    now += ms
    wheel.advance()
  }
  /** Advances the clock by the time of a lookup and gives its answer. */
  const renew = (answer: Answer) => {
    pass(5300)
    expect(asked).toHaveLength(1)
    asked.shift()!.answer(answer)
  }
  return { names, asked, pass, renew, lookups: () => count }
}

function resolved(use: NameUse): { readonly addresses: readonly string[]; readonly failure: string | undefined } {
  const result: { addresses: readonly string[]; failure: string | undefined } = { addresses: [], failure: undefined }
  use.resolve((addresses, failure) => {
    result.addresses = addresses ?? []
    result.failure = failure?.code
  })
  return result
}

test('one lookup answers all requests during it and while the name is in use', () => {
  const { names, asked, lookups } = setup()
  const uses = ['a.test', 'a.test', 'b.test'].map((host) => names.use(host))
  const results = uses.map(resolved)
  expect(asked.map(({ host }) => host)).toEqual(['a.test', 'b.test'])
  asked[0]!.answer(['192.0.2.1'])
  expect(results.map(({ addresses }) => addresses)).toEqual([['192.0.2.1'], ['192.0.2.1'], []])
  expect(resolved(names.use('a.test')).addresses).toEqual(['192.0.2.1'])
  expect(lookups()).toBe(2)
})

test('a name in use is looked up every five seconds; an unused one is forgotten', () => {
  const { names, asked, pass, renew, lookups } = setup()
  const use = names.use('a.test')
  resolved(use)
  asked.shift()!.answer(['192.0.2.1'])
  pass(4900)
  expect(lookups()).toBe(1)
  for (let i = 0; i < 3; i++) renew(['192.0.2.1'])
  expect(lookups()).toBe(4)
  use.release()
  pass(60_000)
  expect(lookups()).toBe(4)
  resolved(names.use('a.test'))
  expect(lookups()).toBe(5)
})

test('new addresses are used at once', () => {
  const { names, asked, renew } = setup()
  const use = names.use('a.test')
  resolved(use)
  asked.shift()!.answer(['192.0.2.1'])
  renew(['192.0.2.2'])
  expect(resolved(names.use('a.test')).addresses).toEqual(['192.0.2.2'])
})

test('a connection is outdated when its address was absent from three answers in a row', () => {
  const { names, asked, renew } = setup()
  const use = names.use('a.test')
  const outdated = vi.fn()
  use.outdated = outdated
  resolved(use)
  asked.shift()!.answer(['192.0.2.1'])
  use.chose('192.0.2.1')
  for (const answer of [['192.0.2.2'], ['192.0.2.2'], ['192.0.2.2', '192.0.2.1'], ['192.0.2.2'], ['192.0.2.2']]) {
    renew(answer)
  }
  expect(outdated).not.toHaveBeenCalled()
  renew(['192.0.2.3'])
  expect(outdated).toHaveBeenCalledTimes(1)
  renew(['192.0.2.3'])
  expect(outdated).toHaveBeenCalledTimes(1)
})

test('a connection that is not established yet is not outdated', () => {
  const { names, asked, renew } = setup()
  const use = names.use('a.test')
  const outdated = vi.fn()
  use.outdated = outdated
  resolved(use)
  asked.shift()!.answer(['192.0.2.1'])
  for (let i = 0; i < 4; i++) renew(['192.0.2.2'])
  expect(outdated).not.toHaveBeenCalled()
})

test('a lookup that fails or finds nothing changes nothing', () => {
  const { names, asked, renew } = setup()
  const use = names.use('a.test')
  const outdated = vi.fn()
  use.outdated = outdated
  resolved(use)
  asked.shift()!.answer(['192.0.2.1'])
  use.chose('192.0.2.1')
  for (const answer of [['192.0.2.2'], ['192.0.2.2'], 'EAI_AGAIN', 'ENOTFOUND', []] as Answer[]) renew(answer)
  expect(outdated).not.toHaveBeenCalled()
  expect(resolved(names.use('a.test')).addresses).toEqual(['192.0.2.2'])
  renew(['192.0.2.2'])
  expect(outdated).toHaveBeenCalledTimes(1)
})

test('without known addresses a failure is reported, and the next request starts a new lookup', () => {
  const { names, asked } = setup()
  const first = resolved(names.use('a.test'))
  asked.shift()!.answer('ENOTFOUND')
  expect(first.failure).toBe('name-unknown')
  const second = resolved(names.use('a.test'))
  asked.shift()!.answer(['192.0.2.1'])
  expect(second.addresses).toEqual(['192.0.2.1'])
})

test('a slow lookup is not repeated while it runs', () => {
  const { names, asked, pass, lookups } = setup()
  resolved(names.use('a.test'))
  asked.shift()!.answer(['192.0.2.1'])
  pass(60_000)
  expect(lookups()).toBe(2)
  expect(resolved(names.use('a.test')).addresses).toEqual(['192.0.2.1'])
  asked.shift()!.answer(['192.0.2.2'])
  pass(5300)
  expect(lookups()).toBe(3)
})

test('connections are spread over the addresses of the first family in the answer', () => {
  const { names, asked } = setup()
  const first = names.use('a.test')
  const result = resolved(first)
  asked.shift()!.answer(['2001:db8::1', '2001:db8::2', '192.0.2.1'])
  const firsts = [result, ...[1, 2, 3].map(() => resolved(names.use('a.test')))].map(({ addresses }) => addresses)
  expect(firsts).toEqual([
    ['2001:db8::1', '2001:db8::2', '192.0.2.1'],
    ['2001:db8::2', '2001:db8::1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::2', '192.0.2.1'],
    ['2001:db8::2', '2001:db8::1', '192.0.2.1'],
  ])
})

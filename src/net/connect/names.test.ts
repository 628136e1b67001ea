import { beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { type MissingFamily, Names, type NameUse } from './names.ts'

let now = 1000

beforeEach(() => {
  now = 1000
  vi.spyOn(clock, 'monotonic').mockImplementation(() => now)
})

type Answer = readonly string[] | 'ENOTFOUND' | 'EAI_AGAIN'
type Asked = {
  readonly host: string
  readonly answer: (answer: Answer, ttlMs?: number, missing?: MissingFamily) => void
}

/** Names whose lookups the test answers; `pass` advances the clock. */
function setup() {
  const wheel = new TimerWheel()
  const asked: Asked[] = []
  let count = 0
  const names = new Names(wheel, (host, done) => {
    count++
    asked.push({
      host,
      answer: (answer, ttlMs, missing) => {
        if (typeof answer !== 'string') return done(null, answer, ttlMs, missing)
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

test('a failure is the answer until its back-off ends, which doubles from 100 ms to 5 s', () => {
  const { names, asked, pass, lookups } = setup()
  const fail = () => {
    const result = resolved(names.use('a.test'))
    asked.shift()?.answer('ENOTFOUND')
    return result.failure
  }
  expect(fail()).toBe('name-unknown')
  for (const backoffMs of [100, 200, 400, 800, 1600, 3200, 5000, 5000]) {
    const before = lookups()
    now += backoffMs - 1
    expect([fail(), lookups()]).toEqual(['name-unknown', before])
    now += 1
    expect([fail(), lookups()]).toEqual(['name-unknown', before + 1])
  }
  now += 5000
  const last = resolved(names.use('a.test'))
  asked.shift()!.answer(['192.0.2.1'])
  expect(last.addresses).toEqual(['192.0.2.1'])
  pass(0)
})

test('the back-off of a name is forgotten some time after its last use', () => {
  const { names, asked, pass } = setup()
  const use = names.use('a.test')
  resolved(use)
  asked.shift()!.answer('EAI_AGAIN')
  use.release()
  expect(names.size).toBe(1)
  pass(11_000)
  expect([names.size, asked.length]).toEqual([0, 0])
})

test('while lookups of a name in use fail, they are repeated with back-off, and its addresses stay in use', () => {
  const { names, asked, pass, lookups } = setup()
  resolved(names.use('a.test'))
  asked.shift()!.answer(['192.0.2.1'])
  pass(5300)
  asked.shift()!.answer('EAI_AGAIN')
  expect(resolved(names.use('a.test'))).toEqual({ addresses: ['192.0.2.1'], failure: undefined })
  pass(400)
  expect(lookups()).toBe(3)
  asked.shift()!.answer('EAI_AGAIN')
  pass(500)
  expect(lookups()).toBe(4)
  asked.shift()!.answer(['192.0.2.2'])
  expect(resolved(names.use('a.test')).addresses).toEqual(['192.0.2.2'])
})

test.each([
  [0, 900, 1300],
  [20_000, 19_900, 20_300],
  [3_600_000, 59_900, 60_300],
])('an answer with a TTL of %i ms is valid for at least one second and at most one minute', (ttlMs, still, over) => {
  const { names, asked, pass, lookups } = setup()
  resolved(names.use('a.test'))
  asked.shift()!.answer(['192.0.2.1'], ttlMs)
  pass(still)
  expect(lookups()).toBe(1)
  pass(over - still)
  expect(lookups()).toBe(2)
})

test('an unused name is remembered while its answer is valid', () => {
  const { names, asked, pass, lookups } = setup()
  const use = names.use('a.test')
  resolved(use)
  asked.shift()!.answer(['192.0.2.1'], 30_000)
  use.release()
  pass(20_000)
  const again = names.use('a.test')
  expect([resolved(again).addresses, lookups()]).toEqual([['192.0.2.1'], 1])
  again.release()
  pass(11_000)
  expect([names.size, lookups()]).toEqual([0, 1])
})

test('at most a thousand unused names are remembered', () => {
  const { names, asked, lookups } = setup()
  const kept = names.use('kept.test')
  resolved(kept)
  asked.shift()!.answer(['192.0.2.1'])
  for (let i = 0; i < 1500; i++) {
    const use = names.use(`${i}.test`)
    resolved(use)
    asked.shift()!.answer(['192.0.2.1'], 60_000)
    use.release()
  }
  expect(names.size).toBe(1001)
  resolved(names.use('1499.test'))
  resolved(names.use('kept.test'))
  expect(lookups()).toBe(1501)
  resolved(names.use('0.test'))
  expect(lookups()).toBe(1502)
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

test('connections are spread over the addresses, families in turn', () => {
  const { names, asked } = setup()
  const result = resolved(names.use('a.test'))
  asked.shift()!.answer(['2001:db8::1', '2001:db8::2', '192.0.2.1'])
  const firsts = [result, ...[1, 2, 3].map(() => resolved(names.use('a.test')))].map(({ addresses }) => addresses)
  expect(firsts).toEqual([
    ['2001:db8::1', '192.0.2.1', '2001:db8::2'],
    ['2001:db8::2', '192.0.2.1', '2001:db8::1'],
    ['2001:db8::1', '192.0.2.1', '2001:db8::2'],
    ['2001:db8::2', '192.0.2.1', '2001:db8::1'],
  ])
})

test('the family that a connection was established with is tried first', () => {
  const { names, asked } = setup()
  const use = names.use('a.test')
  resolved(use)
  asked.shift()!.answer(['2001:db8::1', '192.0.2.1'])
  use.chose('192.0.2.1')
  expect(resolved(names.use('a.test')).addresses).toEqual(['192.0.2.1', '2001:db8::1'])
  use.chose('2001:db8::1')
  expect(resolved(names.use('a.test')).addresses).toEqual(['2001:db8::1', '192.0.2.1'])
})

test('requests get the addresses of the first family, and those of both when the late one has arrived', () => {
  const { names, asked, lookups } = setup()
  const calls: unknown[] = []
  const resolve = () =>
    names.use('a.test').resolve((addresses, failure, isLast) => calls.push([addresses, failure, isLast]))
  resolve()
  asked[0]!.answer(['2001:db8::1'], 1000, 'late')
  resolve()
  expect(calls).toEqual([
    [['2001:db8::1'], null, false],
    [['2001:db8::1'], null, false],
  ])
  asked[0]!.answer(['2001:db8::1', '192.0.2.1'], 1000)
  const both = [['2001:db8::1', '192.0.2.1'], null, true]
  expect(calls.slice(2)).toEqual([both, both])
  expect(lookups()).toBe(1)
})

test('once both families are known, a late one is not waited for', () => {
  const { names, asked, pass } = setup()
  resolved(names.use('a.test'))
  asked.shift()!.answer(['2001:db8::1', '192.0.2.1'])
  pass(5300)
  asked[0]!.answer(['192.0.2.2'], undefined, 'late')
  const done = vi.fn()
  names.use('a.test').resolve(done)
  asked[0]!.answer(['2001:db8::1', '192.0.2.2'])
  expect(done.mock.calls).toEqual([[['192.0.2.2', '2001:db8::1'], null, true]])
})

test('a family that is late or fails keeps its known addresses, and its connections', () => {
  const { names, asked, pass } = setup()
  const use = names.use('a.test')
  const outdated = vi.fn()
  use.outdated = outdated
  resolved(use)
  asked.shift()!.answer(['2001:db8::1', '192.0.2.1'])
  use.chose('2001:db8::1')
  for (let i = 0; i < 4; i++) {
    pass(5300)
    asked[0]!.answer(['192.0.2.2'], undefined, 'late')
    expect(resolved(names.use('a.test')).addresses).toEqual(['2001:db8::1', '192.0.2.2'])
    asked.shift()!.answer(['192.0.2.2'], undefined, 'failed')
    expect(resolved(names.use('a.test')).addresses).toEqual(['2001:db8::1', '192.0.2.2'])
  }
  expect(outdated).not.toHaveBeenCalled()
})

import { afterEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import { UNCHECKED_MATERIAL } from '#base/tls-material.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { startControlLoop } from './loop.ts'
import { Translator } from './translator.ts'

/* A certificate that expires, or becomes valid, while nothing else changes. */

const { now, after } = clock
afterEach(() => {
  clock.now = now
  clock.after = after
})

const DAY = 86_400_000

/** A loop on a clock that the test advances, with certificates that are valid between two days. */
function startLoop(validity: Readonly<Record<string, readonly [from: number, until: number]>>) {
  let time = 0
  const alarms = new Set<{ readonly at: number; readonly run: () => void }>()
  clock.now = () => time
  clock.after = (ms, run) => {
    const alarm = { at: time + ms, run }
    alarms.add(alarm)
    return { cancel: () => void alarms.delete(alarm) }
  }
  const translator = new Translator({
    tlsMaterial: {
      ...UNCHECKED_MATERIAL,
      validity: (pem) => {
        const [name] = Object.keys(validity).filter((each) => pem.includes(`${each}\n`))
        const [from, until] = validity[name!]!
        return { fromMs: from * DAY, untilMs: until * DAY, names: ['a.test'] }
      },
    },
  })
  const published: (readonly Finding[])[] = []
  const statuses: string[] = []
  const loop = startControlLoop({
    translator,
    plans: { take: () => new Map() },
    publishStatuses: ({ written }, findings) => {
      statuses.push(JSON.stringify(written))
      if (findings !== undefined) published.push(findings)
    },
  })
  const gateway = (...names: readonly string[]) =>
    admitObject({
      kind: 'Gateway',
      metadata: { name: 'main' },
      spec: {
        gatewayClassName: 'gatewright',
        listeners: [
          {
            name: 'https',
            port: 8443,
            protocol: 'HTTPS',
            hostname: 'a.test',
            tls: { certificateRefs: names.map((name) => ({ name })) },
          },
        ],
      },
    })
  const secrets = Object.keys(validity).map((name) =>
    admitObject({
      kind: 'Secret',
      metadata: { name },
      stringData: {
        'tls.crt': `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----`,
        'tls.key': '-----BEGIN PRIVATE KEY-----',
      },
    }),
  )
  return {
    loop,
    published,
    statuses,
    alarms: () => [...alarms].map(({ at }) => at),
    use: (...names: readonly string[]) => loop.apply({ set: [...secrets, gateway(...names)], removed: [] }),
    /** Sets the clock to 01:00 of a day and runs the alarms that are due. */
    advance(day: number) {
      time = day * DAY + DAY / 24
      for (const alarm of alarms) {
        if (alarm.at > time) continue
        alarms.delete(alarm)
        alarm.run()
      }
    },
    messages: () => (published.at(-1) ?? []).map(({ code, message }) => `${code}: ${message}`),
  }
}

test('the status and the findings change when a certificate expires, and before, once each', () => {
  const { use, advance, alarms, messages, published, statuses } = startLoop({ one: [-1, 2], two: [-1, 5] })
  use('one', 'two')
  expect([messages(), alarms()]).toEqual([[], [2 * DAY + 1]])
  advance(1)
  expect(published).toHaveLength(1)
  advance(2)
  const expired = 'Secret default/one: the certificate expired on 1970-01-03'
  expect(messages()).toEqual([`certificate-expired: ${expired}`])
  expect(statuses.at(-1)).toContain(expired)
  expect([published.length, alarms()]).toEqual([2, [4 * DAY + 1]])
  advance(4)
  const expires = 'Secret default/two: the certificate expires on 1970-01-06, in less than a day'
  expect(messages()).toContain(`certificate-expires: ${expires}`)
  expect([published.length, alarms()]).toEqual([3, [5 * DAY + 1]])
  advance(5)
  expect(messages().map((message) => message.split(':')[0])).toEqual(['certificate-expired', 'certificate-expired'])
  expect([published.length, alarms()]).toEqual([4, []])
})

test('a certificate becomes valid', () => {
  const { use, advance, alarms, messages } = startLoop({ one: [3, 9] })
  use('one')
  expect(messages()).toEqual(['certificate-expired: Secret default/one: the certificate is valid only from 1970-01-04'])
  advance(3)
  expect([messages(), alarms()]).toEqual([[], [8 * DAY + 1]])
})

test('a certificate that is no longer used, or a loop that is closed, waits for nothing', () => {
  const { use, alarms, loop } = startLoop({ one: [-1, 2], two: [-1, 5] })
  use('one')
  use('two')
  expect(alarms()).toEqual([4 * DAY + 1])
  loop.close()
  expect(alarms()).toEqual([])
})

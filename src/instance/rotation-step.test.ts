import { expect, test } from 'vitest'
import { type CertificateEntries, nextStep } from './rotation-step.ts'

const LIFE = 1200
const pem = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`
const [OLD, NEW, NEXT] = [pem('old'), pem('new'), pem('next')]

/** Certificates are named after the time when they begin. */
const leaf = (fromMs: number) => ({ 'tls.crt': `${fromMs}`, 'tls.key': `key of ${fromMs}` })
const next = (fromMs: number) => ({ 'next.crt': `${fromMs}`, 'next.key': `key of ${fromMs}` })

interface Setup {
  readonly nowMs: number
  readonly entries: CertificateEntries
  readonly lagging?: readonly string[]
}

function step({ nowMs, entries, lagging = [] }: Setup) {
  return nextStep(entries, {
    nowMs,
    validity: (text) =>
      text === 'bad' ? undefined : { fromMs: Number(text), untilMs: Number(text) + LIFE, names: [] },
    lagging: (authorities) => (authorities === OLD + NEW ? lagging : ['asked for others']),
    issue: async () => ({ ca: NEXT, certificate: `${nowMs}`, key: `key of ${nowMs}` }),
  })
}

const PUBLISHED = { 'ca.crt': OLD + NEW, ...leaf(0), ...next(800) }
const SWITCHED = { 'ca.crt': OLD + NEW, ...leaf(800) }

test.each<[what: string, setup: Setup, expected: object | undefined]>([
  ['a young certificate stays', { nowMs: 799, entries: { 'ca.crt': OLD, ...leaf(0) } }, undefined],
  [
    'at two thirds the next authority is published, with the certificate that follows',
    { nowMs: 800, entries: { 'ca.crt': OLD, ...leaf(0) } },
    { kind: 'publish', entries: { 'ca.crt': OLD + NEXT, ...leaf(0), ...next(800) } },
  ],
  [
    'one that nothing can read is replaced',
    { nowMs: 0, entries: { 'ca.crt': OLD, 'tls.crt': 'bad', 'tls.key': '' } },
    { kind: 'publish', entries: { 'ca.crt': OLD + NEXT, 'tls.crt': 'bad', 'tls.key': '', ...next(0) } },
  ],
  [
    'what an earlier rotation left does not stay',
    { nowMs: 1600, entries: SWITCHED },
    { kind: 'publish', entries: { 'ca.crt': NEW + NEXT, ...leaf(800), ...next(1600) } },
  ],
  ['at first the files of pods may be older', { nowMs: 899, entries: PUBLISHED }, undefined],
  ['then all proxies trust it', { nowMs: 900, entries: PUBLISHED }, { kind: 'switch', entries: SWITCHED, lagging: [] }],
  ['or some do not yet', { nowMs: 999, entries: PUBLISHED, lagging: ['a'] }, { kind: 'wait', lagging: ['a'] }],
  [
    'which has an end',
    { nowMs: 1000, entries: PUBLISHED, lagging: ['a'] },
    { kind: 'switch', entries: SWITCHED, lagging: ['a'] },
  ],
  [
    'with a certificate that has ended nobody waits',
    { nowMs: 1200, entries: { ...PUBLISHED, ...next(1199) }, lagging: ['a'] },
    { kind: 'switch', entries: { ...SWITCHED, ...leaf(1199) }, lagging: ['a'] },
  ],
  ['the old authority stays for a while', { nowMs: 1099, entries: SWITCHED }, undefined],
  ['and goes', { nowMs: 1100, entries: SWITCHED }, { kind: 'drop', entries: { 'ca.crt': NEW, ...leaf(800) } }],
  ['once', { nowMs: 1100, entries: { 'ca.crt': NEW, ...leaf(800) } }, undefined],
])('%s', async (_, setup, expected) => {
  expect(await step(setup)).toEqual(expected)
})

import { type CountryCode, Metadata, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sampleSize } from '#test/support/sample-size.ts'
import { seededRandom } from '#test/support/seeded-random.ts'
import { readPlan } from './phone-numbers.ts'

/** What the library is asked: a number and the country that it may be of. */
let asked: [number: string, country: string][] = []
let valid: (number: string, country: string) => boolean = () => false

/** All digits may be numbers. */
class AnyPlan {
  readonly numberingPlan = {
    callingCode: () => '1',
    IDDPrefix: () => '',
    nationalNumberPattern: () => '',
    nationalPrefixForParsing: () => '',
  }
  selectNumberingPlan() {}
}

beforeEach(() => {
  asked = []
  valid = () => false
  vi.resetModules()
  vi.doMock('libphonenumber-js/max', () => ({
    Metadata: AnyPlan,
    parsePhoneNumberFromString: (number: string, { defaultCountry }: { defaultCountry: string }) => {
      asked.push([number, defaultCountry])
      return { isValid: () => valid(number, defaultCountry) }
    },
  }))
})
afterEach(() => {
  vi.doUnmock('libphonenumber-js/max')
  vi.resetModules()
})

/** The module as it is when a gateway starts. */
const started = () => import('./phone-numbers.ts')

async function loaded() {
  const module = await started()
  await module.loadPhoneNumbers()
  return module
}

const texts = (candidate: string, found: readonly { start: number; end: number }[]) =>
  found.map(({ start, end }) => candidate.slice(start, end))
const numbersAsked = () => [...new Set(asked.map(([number]) => number))]

test.each<[candidate: string, before: string, found: string[]]>([
  ['1234', '', []],
  ['12345', '', ['12345']],
  ['1'.repeat(18), '', ['1'.repeat(18)]],
  ['1'.repeat(19), '', []],
  ['+12345 (-. )', '', ['+12345']],
  ['1234567', '9', []],
  ['+1234567', '9', ['1234567']],
  ['1234567', 'a', ['1234567']],
])(
  'while the library is loading, a candidate is a number by its digits: %j after %j',
  async (candidate, before, found) => {
    const { findPhoneNumbers } = await started()
    expect(texts(candidate, findPhoneNumbers(candidate, before))).toEqual(found)
    expect(asked).toEqual([])
  },
)

test('without the library, every candidate counts', async () => {
  vi.doMock('libphonenumber-js/max', () => {
    throw new Error('not installed')
  })
  const { findPhoneNumbers } = await loaded()
  expect(findPhoneNumbers('1234567', '')).toEqual([{ start: 0, end: 7 }])
})

test('the first guard that needs the library loads it', async () => {
  const { findPhoneNumbers } = await started()
  const { builtinRule } = await import('./builtin-rules.ts')
  builtinRule('Ssn')
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(findPhoneNumbers('1234567', '')).toHaveLength(1)
  builtinRule('PhoneNumber')
  await vi.waitFor(() => expect(findPhoneNumbers('1234567', '')).toEqual([]))
})

test('a number is tried as one of each country, until it is one; with a plus it has its own', async () => {
  const { findPhoneNumbers } = await loaded()
  expect(findPhoneNumbers('1234567', '')).toEqual([])
  expect(asked.map(([, country]) => country)).toEqual(['US', 'GB', 'DE', 'IL', 'IN', 'CA', 'BR'])
  asked = []
  expect(findPhoneNumbers('+1234567', '')).toEqual([])
  expect(asked).toEqual([['+1234567', 'US']])
  asked = []
  valid = (_, country) => country === 'DE'
  expect(findPhoneNumbers('1234567', '')).toEqual([{ start: 0, end: 7 }])
  expect(asked).toHaveLength(3)
})

test.each<[what: string, candidate: string, valid: string[], found: string[], asked: string[]]>([
  ['15 digits are one number or none', '123456789 012345', ['123456789'], [], ['123456789 012345']],
  [
    'more may be several',
    '123456789 123456780',
    ['123456789', '123456780'],
    ['123456789', '123456780'],
    ['123456789 123456780', '123456789', '123456780'],
  ],
  [
    'parts have 9 to 15 digits',
    '12345678 1 123456 1',
    [],
    [],
    ['12345678 1 123456 1', '12345678 1', '12345678 1 123456'],
  ],
  ['no part of 16', '12345678 12345678', [], [], ['12345678 12345678']],
  ['no part of 8', '12345678 1234567890123', ['12345678'], [], ['1234567890123']],
  [
    'six parts are tried',
    '123456789 1 1 1 1 1 1 1',
    ['123456789 1 1 1 1 1 1'],
    [],
    [
      '123456789 1 1 1 1 1 1 1',
      '123456789',
      '123456789 1',
      '123456789 1 1',
      '123456789 1 1 1',
      '123456789 1 1 1 1',
      '123456789 1 1 1 1 1',
    ],
  ],
  ['signs belong to the digits after them', '12345678 (123456789 +1', ['(123456789'], ['(123456789'], ['(123456789']],
])('numbers in a row: %s', async (_, candidate, numbers, found, tried) => {
  const { findPhoneNumbers } = await loaded()
  valid = (number) => numbers.includes(number)
  expect(texts(candidate, findPhoneNumbers(candidate, ''))).toEqual(found)
  if (tried.length > 1 || tried[0] === candidate) expect(numbersAsked()).toEqual(tried)
  else expect(numbersAsked()).toContain(tried[0])
})

/** Prefixes of countries, carriers and areas. */
const STARTS = [
  ...['', '', '', '0', '00', '011', '1', '11', '44', '440', '49', '490', '972', '91', '55', '0055', '00491', '018'],
  ...['90', '015', '9015', '0151', '5501511', '310', '1310', '1721', '1481', '441534', '01624', '0800', '1800'],
]

const SIGNS = ['', '', '', '', ' ', '-', '.', '(', ')', ') ', ' - ']

test.each<CountryCode>(['US', 'GB', 'DE', 'IL', 'IN', 'CA', 'BR'])(
  'each valid number of %s may be one; most others may not',
  (defaultCountry) => {
    const mayBeNumber = readPlan(new Metadata(), defaultCountry)
    const random = seededRandom(11)
    const counts = { valid: 0, possible: 0 }
    const tries = sampleSize(1000, 100_000)
    for (let i = 0; i < tries; i++) {
      const rest = Array.from({ length: 4 + random.below(11) }, () => random.below(10)).join('')
      const digits = (random.pick(STARTS) + rest).slice(0, 18)
      const written = digits.replace(/\d/g, (digit) => random.pick(SIGNS) + digit)
      const isValid = parsePhoneNumberFromString(written, { defaultCountry, extract: false })?.isValid() === true
      if (isValid) counts.valid++
      if (!mayBeNumber(digits)) expect(isValid, written).toBe(false)
      else counts.possible++
    }
    expect(counts.valid).toBeGreaterThan(tries / 50)
    expect(counts.possible - counts.valid).toBeLessThan(tries / 2)
  },
)

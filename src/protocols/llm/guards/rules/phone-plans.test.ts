import { type CountryCode, Metadata, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { expect, test } from 'vitest'
import { sampleSize } from '#test/support/sample-size.ts'
import { seededRandom } from '#test/support/seeded-random.ts'
import { readPlan } from './phone-plans.ts'

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

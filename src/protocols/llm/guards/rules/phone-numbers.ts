import type { CountryCode } from 'libphonenumber-js/max'
import type { Match } from '#base/pattern/text-scanner.ts'
import { readPlan } from './phone-plans.ts'

/** A number without `+` is tried as a number of these countries. */
const COUNTRIES: readonly CountryCode[] = ['US', 'GB', 'DE', 'IL', 'IN', 'CA', 'BR']

/** What may be a telephone number: at most 33 characters. It is not part of a longer number, see `findPhoneNumbers`. */
export const PHONE_CANDIDATE = String.raw`[+()]?\d[\d ().-]{6,30}`

/** Digits of a number with the prefix to dial its country. */
const MAX_DIGITS = 18
const MIN_DIGITS = 5
/** Of numbers in a row, the shortest valid parts with at least so many digits count: they are rarely a half of one number. */
const MIN_DIGITS_OF_SEVERAL = 9
/** Digits of a number with its country (ITU-T E.164). More of them may be several numbers in a row. */
const MAX_DIGITS_OF_ONE = 15

/** Parts of a candidate that are tried at most; each try takes up to 20 us. */
const MAX_TRIES = 6

type IsValid = (number: string) => boolean

/** Without the library, which is loading: too much is masked rather than too little (decision B57). */
const TAKE_ALL: IsValid = () => true

let isValid = TAKE_ALL
let loading: Promise<void> | undefined

/** Loads the library of telephone numbers. Only a guard that needs it calls this: it takes 4 MB and some 20 ms. */
export function loadPhoneNumbers(): Promise<void> {
  // If it cannot be loaded, every candidate counts for good.
  loading ??= import('libphonenumber-js/max').then(useLibrary, () => {})
  return loading
}

function useLibrary({ parsePhoneNumberFromString, Metadata }: typeof import('libphonenumber-js/max')): void {
  const metadata = new Metadata()
  const plans = COUNTRIES.map((country) => ({ country, mayBeNumber: readPlan(metadata, country) }))
  const isValidIn = (number: string, defaultCountry: CountryCode) =>
    parsePhoneNumberFromString(number, { defaultCountry, extract: false })?.isValid() === true
  isValid = (number) => {
    if (number.startsWith('+')) return isValidIn(number, COUNTRIES[0]!)
    const digits = digitsOf(number)
    return plans.some(({ country, mayBeNumber }) => mayBeNumber(digits) && isValidIn(number, country))
  }
}

/** The telephone numbers in a candidate: all of it or, where people wrote several numbers in a row, those that are valid. */
export function findPhoneNumbers(candidate: string, before: string): readonly Match[] {
  let start = 0
  if (isDigit(before)) {
    // The candidate would begin within a longer number. After a sign it would not.
    if (isDigit(candidate)) return []
    start = 1
  }
  const end = candidate.replace(/[ ().-]+$/, '').length
  if (isNumber(candidate.slice(start, end))) return [{ start, end }]
  return countDigits(candidate) > MAX_DIGITS_OF_ONE ? findSeveral(candidate, start) : []
}

/** Digits with what belongs to them on the left. */
const GROUP = /[+(]?\d+/g

function findSeveral(candidate: string, from: number): readonly Match[] {
  const found: Match[] = []
  const groups = [...candidate.matchAll(GROUP)].filter(({ index }) => index >= from)
  let tries = 0
  for (let first = 0; first < groups.length; first++) {
    const start = groups[first]!.index
    for (let last = first; last < groups.length && tries < MAX_TRIES; last++) {
      const end = groups[last]!.index + groups[last]![0].length
      const part = candidate.slice(start, end)
      if (countDigits(part) < MIN_DIGITS_OF_SEVERAL || countDigits(part) > MAX_DIGITS_OF_ONE) continue
      tries++
      if (!isValid(part)) continue
      found.push({ start, end })
      first = last
      break
    }
  }
  return found
}

function isDigit(text: string): boolean {
  return /^\d/.test(text)
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, '')
}

function countDigits(text: string): number {
  return digitsOf(text).length
}

function isNumber(text: string): boolean {
  const digits = countDigits(text)
  return digits >= MIN_DIGITS && digits <= MAX_DIGITS && isValid(text)
}

import type { CountryCode, Metadata } from 'libphonenumber-js/max'
import type { Match } from '#base/pattern/text-scanner.ts'

/** What this project reads of the metadata of the library, beyond its types. */
interface Plans {
  selectNumberingPlan(country: string): void
  readonly numberingPlan: Plan
}

interface Plan {
  callingCode(): string
  IDDPrefix(): string
  nationalNumberPattern(): string
  nationalPrefixForParsing(): string
}

/** Whether digits may be a valid number of some country. */
export type MayBeNumber = (digits: string) => boolean

/**
 * A quick check before the library, which takes 2 to 15 us to reject digits. It accepts every number without `+` that the library calls valid.
 */
export function readPlan(metadata: Metadata, country: CountryCode): MayBeNumber {
  const plans = metadata as unknown as Plans
  plans.selectNumberingPlan(country)
  const plan = plans.numberingPlan
  const code = plan.callingCode()
  const abroad = new RegExp(`^(?:${plan.IDDPrefix()})`)
  const prefix = new RegExp(`^(?:${plan.nationalPrefixForParsing()})`)
  // It contains the patterns of the other countries with this calling code.
  const national = new RegExp(`^(?:${plan.nationalNumberPattern()})$`)
  const isNational: MayBeNumber = (digits) => {
    if (national.test(digits)) return true
    const dialled = prefix.exec(digits)
    if (dialled === null) return false
    // If the prefix has a group, such as a carrier code, the library removes other digits.
    return dialled[1] !== undefined || national.test(digits.slice(dialled[0].length))
  }
  return (digits) =>
    abroad.test(digits) || isNational(digits) || (digits.startsWith(code) && isNational(digits.slice(code.length)))
}

/** A number without `+` is tried as a number of these countries. */
const COUNTRIES: readonly CountryCode[] = ['US', 'GB', 'DE', 'IL', 'IN', 'CA', 'BR']

/** What may be a telephone number: at most 33 characters. It is not part of a longer number, see `findPhoneNumbers`. */
export const PHONE_CANDIDATE = String.raw`[+()]?\d[\d ().-]{6,30}`

/** Digits of a number with the prefix to dial its country. */
const MAX_DIGITS = 18
const MIN_DIGITS = 5
/** Fewest digits of each of several numbers in a row: shorter valid parts are often half of a number. */
const MIN_DIGITS_OF_SEVERAL = 9
/** Most digits of a number with its country code (ITU-T E.164). More digits may be several numbers in a row. */
const MAX_DIGITS_OF_ONE = 15

/** Parts of a candidate that are tried at most; each try takes up to 20 us. */
const MAX_TRIES = 6

type IsValid = (number: string) => boolean

/** Used while the library is loading: masks too much rather than too little (decision B57). */
const TAKE_ALL: IsValid = () => true

let isValid = TAKE_ALL
let loading: Promise<void> | undefined

/** Loads the library of telephone numbers. Only a guard that needs it calls this: it takes 4 MB and some 20 ms. */
export function loadPhoneNumbers(): Promise<void> {
  // If loading fails, every candidate keeps counting as a number.
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
    // Digits before and after the boundary are one longer number; a sign separates them.
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

import type { CountryCode, Metadata } from 'libphonenumber-js/max'

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
 * A look before the library, which takes 2 to 15 us to tell that digits are no number of a country. It is true of each number without `+` that the
 * library calls valid.
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
    // With a group, such as the code of a carrier, the library takes other digits away.
    return dialled[1] !== undefined || national.test(digits.slice(dialled[0].length))
  }
  return (digits) =>
    abroad.test(digits) || isNational(digits) || (digits.startsWith(code) && isNational(digits.slice(code.length)))
}

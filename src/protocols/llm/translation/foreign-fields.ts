import type { Head } from '#net/http/head.ts'
import type { WireDialect } from '../chat/dialect.ts'
import type { VendorFields } from '../dialects/format.ts'
import { FORMATS } from '../dialects/index.ts'
import type { ClientFormat } from '../settings/route-type.ts'

/** By the dialect of the provider; the others are of neither vendor. */
const FIELDS_OF_PROVIDERS: ReadonlyMap<WireDialect, VendorFields> = new Map(
  Object.values(FORMATS).map(({ dialect, vendor }) => [dialect, vendor]),
)

/**
 * Names of the fields that the client sent for the vendor of its API, if the provider has the API of another one.
 * @param keepsKeys the provider has a credential that may be in any field
 */
export function foreignFields(
  type: ClientFormat,
  dialect: WireDialect,
  head: Head,
  keepsKeys: boolean,
): readonly string[] {
  const { vendor } = FORMATS[type]
  if (vendor === FIELDS_OF_PROVIDERS.get(dialect)) return []
  const { prefixes, names, keys } = vendor
  const found: string[] = []
  head.each((name) => {
    if (prefixes.some((prefix) => name.startsWith(prefix)) || names.includes(name)) found.push(name)
    else if (!keepsKeys && keys.includes(name)) found.push(name)
  })
  return found
}

import { findTranslation, NATIVE_DIALECTS } from './dialects.ts'
import { type Conversion, NOT_IMPLEMENTED, type Provider } from './providers/provider.ts'
import type { ClientFormat } from './route-type.ts'

/** What a provider gets for a request. Dialects that this version cannot translate count as not implemented. */
export function conversionOf(provider: Provider, format: ClientFormat, model: string, streamed: boolean): Conversion {
  const conversion = provider.convert(format, model, streamed)
  if (conversion.kind !== 'send' || conversion.dialect === NATIVE_DIALECTS[format]) return conversion
  return findTranslation(format, conversion.dialect) === undefined ? NOT_IMPLEMENTED : conversion
}

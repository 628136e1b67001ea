import { trimSpace } from '#base/byte-text.ts'
import type { Head } from './head.ts'

/** Adds a field of the request to those that a response depends on (RFC 9110, 12.5.5), unless it is named already. */
export function addVary(response: Head, field: string): void {
  const named = response.joined('vary')?.toLowerCase().split(',').map(trimSpace) ?? []
  if (!named.includes(field.toLowerCase()) && !named.includes('*')) response.append('vary', field)
}

import type { Range } from '../json/insert-elements.ts'
import { findMember, type Members, scanMembers, stringAt } from '../json/scan-members.ts'
import type { PromptEnrichmentSpec, PromptMessageSpec } from './policy-schema.ts'

/** `prompt`, prepared: roles in lower case. */
export interface PromptEnrichment {
  readonly prepend: readonly PromptMessageSpec[]
  readonly append: readonly PromptMessageSpec[]
}

/** Letter case of roles is ignored (decision B103). @returns undefined if there is nothing to add */
export function compilePrompt(spec: PromptEnrichmentSpec | undefined): PromptEnrichment | undefined {
  const fold = ({ role, content }: PromptMessageSpec) => ({ role: role.toLowerCase(), content })
  const prepend = (spec?.prepend ?? []).map(fold)
  const append = (spec?.append ?? []).map(fold)
  return prepend.length + append.length === 0 ? undefined : { prepend, append }
}

/** Whether the dialects treat text with this role as instructions. */
export function isSystemRole(role: string | undefined): boolean {
  return role === 'system' || role === 'developer'
}

/** Number of leading elements with system text. @param elements their positions in the array */
export function countLeadingSystem(array: Uint8Array, elements: readonly number[]): number {
  let count = 0
  while (2 * count < elements.length) {
    if (!isSystemRole(readRole(array.subarray(elements[2 * count]!, elements[2 * count + 1]!)))) break
    count++
  }
  return count
}

function readRole(element: Uint8Array): string | undefined {
  const members = scanMembers(element)
  if ('fault' in members) return undefined
  const role = findMember(members, 'role')
  return role < 0 ? undefined : stringAt(members, role)
}

/** Start and end of the value of a member; undefined if it is absent. */
export function rangeOf(members: Members, key: string): Range | undefined {
  const index = findMember(members, key)
  if (index < 0) return undefined
  return { start: members.offsets[4 * index + 2]!, end: members.offsets[4 * index + 3]! }
}

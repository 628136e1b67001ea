import { list, openObject, optional, type Parsed, required, sectionName } from '#schema/index.ts'
import { weightedBackendReference } from './platform-fields.ts'

const relayRule = openObject({
  name: optional(sectionName(), 'Name of the rule.'),
  backendRefs: optional(list(weightedBackendReference, { max: 16 }), 'Backends of the connections.'),
})

/** `rules` of a TCPRoute or TLSRoute. */
export const relayRules = required(list(relayRule, { min: 1, max: 16 }), 'Routing rules.')

export type RelayRuleSpec = Parsed<typeof relayRule>

import { list, openObject, optional, type Parsed, required, sectionName } from '#schema/index.ts'
import { weightedBackendReference } from './platform-fields.ts'

const streamRule = openObject({
  name: optional(sectionName(), 'Name of the rule.'),
  backendRefs: optional(list(weightedBackendReference, { max: 16 }), 'Where connections go.'),
})

/** `rules` of a TCPRoute or TLSRoute. */
export const streamRules = required(list(streamRule, { min: 1, max: 16 }), 'Rules.')

export type StreamRuleSpec = Parsed<typeof streamRule>

import {
  enumOf,
  formattedText,
  integer,
  listMap,
  object,
  optional,
  type Parsed,
  required,
  type ScalarRefusal,
  text,
} from '#schema/index.ts'

const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/

function checkReason(value: string): ScalarRefusal | undefined {
  return REASON.test(value) ? undefined : { code: 'invalid-name', message: 'must be a CamelCase word' }
}

/** The platform's Condition. */
const condition = object({
  type: required(text({ max: 316 }), 'What the condition is about.'),
  status: required(enumOf('True', 'False', 'Unknown'), 'Whether it holds.'),
  reason: required(formattedText({ min: 1, max: 1024 }, checkReason), 'One word that says why.'),
  message: required(text({ max: 32_768 }), 'A sentence for people.'),
  observedGeneration: optional(integer({ min: 0 }), 'Generation of the object that was looked at.'),
  lastTransitionTime: required(text({ min: 1 }), 'When the status changed last.'),
})

/** Conditions, at most 8, one of each type. */
export const conditions = () => listMap('type', condition, { max: 8 })

export type Condition = Parsed<typeof condition>

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
  type: required(text({ max: 316 }), 'Type of the condition.'),
  status: required(enumOf('True', 'False', 'Unknown'), 'Whether the condition is true.'),
  reason: required(
    formattedText({ min: 1, max: 1024, pattern: REASON }, checkReason),
    'Reason for the status, as one CamelCase word.',
  ),
  message: required(text({ max: 32_768 }), 'Human-readable message.'),
  observedGeneration: optional(integer({ min: 0 }), 'Generation of the object that the condition describes.'),
  lastTransitionTime: required(text({ min: 1 }), 'Time of the last change of the status.'),
})

/** Conditions, at most 8, one of each type. */
export const conditions = () => listMap('type', condition, { max: 8 })

export type Condition = Parsed<typeof condition>

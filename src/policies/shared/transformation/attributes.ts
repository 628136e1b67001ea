import {
  celExpression,
  list,
  notEmpty,
  object,
  optional,
  type Parsed,
  required,
  shortString,
  tinyString,
} from '#schema/index.ts'

/** A name and the expression for its value: log and trace attributes, metric labels, trace resources. */
export const attributeAdd = object({
  name: required(shortString(), 'Name of the attribute.'),
  expression: required(celExpression(), 'CEL expression for the value.'),
})

/** Changes to the attributes of log lines or spans (specification 2, 2.1, `LogTracingAttributes`). */
export const logTracingAttributes = notEmpty(
  object({
    remove: optional(
      list(tinyString(), { min: 1, max: 32 }),
      'Default attributes to remove, for example "http.method".',
    ),
    add: optional(
      list(attributeAdd, { min: 1 }),
      'Attributes to add. If an expression fails to evaluate, its attribute is omitted.',
    ),
  }),
)

export type AttributeAddSpec = Parsed<typeof attributeAdd>
export type LogTracingAttributesSpec = Parsed<typeof logTracingAttributes>

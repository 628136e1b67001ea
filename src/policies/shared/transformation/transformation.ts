import {
  celExpression,
  headerName,
  listMap,
  mapOf,
  notEmpty,
  object,
  optional,
  type Parsed,
  required,
  setOf,
} from '#schema/index.ts'

const headerTransformation = object({
  name: required(headerName(), 'Name of the header, or one of :authority, :method, :path, :scheme, :status.'),
  value: required(celExpression(), 'CEL expression for the value. If evaluation fails, the header is removed.'),
})

const transform = notEmpty(
  object({
    set: optional(
      listMap('name', headerTransformation, { min: 1, max: 16 }),
      'Headers to set. They replace existing values.',
    ),
    add: optional(
      listMap('name', headerTransformation, { min: 1, max: 16 }),
      'Headers to add. An existing header gets an additional value.',
    ),
    remove: optional(setOf(headerName(), { min: 1, max: 16 }), 'Headers to remove.'),
    body: optional(celExpression(), 'CEL expression for the new body.'),
    metadata: optional(
      mapOf(celExpression(), { min: 1, max: 16 }),
      'CEL expressions for values that later expressions can read.',
    ),
  }),
)

/** Changes to request and response (specification 2, 2.2.3); used in `traffic` and in `backend`. */
export const transformation = notEmpty(
  object({
    request: optional(transform, 'Changes to the request.'),
    response: optional(transform, 'Changes to the response.'),
  }),
)

export type TransformSpec = Parsed<typeof transform>
export type TransformationSpec = Parsed<typeof transformation>

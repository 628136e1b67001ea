import {
  atMostOne,
  celExpression,
  described,
  httpHeaderName,
  integer,
  listMap,
  object,
  optional,
  type Parsed,
  required,
  text,
} from '#schema/index.ts'
import { orConditional } from '../../shared/conditional.ts'

const directResponse = atMostOne(
  ['body', 'bodyExpression'],
  object({
    status: required(integer({ min: 200, max: 599 }), 'Status code of the response.'),
    body: optional(text({ min: 1, max: 4096 }), 'Body of the response. When unset, the body is empty.'),
    bodyExpression: optional(
      celExpression(),
      'CEL expression for the body. Strings and bytes are written unchanged, other values as JSON.',
    ),
    headers: optional(
      listMap(
        'name',
        object({
          name: required(httpHeaderName(), 'Name of the header.'),
          value: required(celExpression(), 'CEL expression for the value.'),
        }),
        { min: 1, max: 16 },
      ),
      'Headers of the response.',
    ),
  }),
)

/** `traffic.directResponse` (specification 2, 2.2.5). */
export const trafficDirectResponse = described('Respond directly, without a backend.', orConditional(directResponse))

export type DirectResponseSpec = Parsed<typeof directResponse>
export type DirectResponseSection = Parsed<typeof trafficDirectResponse>

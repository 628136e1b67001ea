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
    status: required(integer({ min: 200, max: 599 }), 'Status of the response.'),
    body: optional(text({ min: 1, max: 4096 }), 'Body of the response; none when unset.'),
    bodyExpression: optional(
      celExpression(),
      'Computes the body: strings and bytes are written as they are, other values as JSON.',
    ),
    headers: optional(
      listMap(
        'name',
        object({
          name: required(httpHeaderName(), 'Name of the header.'),
          value: required(celExpression(), 'Its value.'),
        }),
        { min: 1, max: 16 },
      ),
      'Headers of the response.',
    ),
  }),
)

/** `traffic.directResponse` (specification 2, 2.2.5). */
export const trafficDirectResponse = described('A fixed answer, without a backend.', orConditional(directResponse))

export type DirectResponseSpec = Parsed<typeof directResponse>
export type DirectResponseSection = Parsed<typeof trafficDirectResponse>

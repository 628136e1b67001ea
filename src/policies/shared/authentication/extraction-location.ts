import {
  celExpression,
  cookieName,
  exactlyOne,
  headerText,
  httpHeaderName,
  object,
  optional,
  type Parsed,
  required,
  text,
} from '#schema/index.ts'

const locations = {
  header: optional(
    object({
      name: required(httpHeaderName(), 'Name of the header.'),
      prefix: optional(headerText(256), 'Prefix of the credential, for example "Bearer".'),
    }),
    'A request header.',
  ),
  queryParameter: optional(
    object({ name: required(text({ min: 1, max: 256 }), 'Name of the parameter.') }),
    'A query parameter.',
  ),
  cookie: optional(object({ name: required(cookieName(), 'Name of the cookie.') }), 'A cookie.'),
}

/** Where a credential is read (specification 1, 5.2). */
export const extractionLocation = exactlyOne(
  ['header', 'queryParameter', 'cookie', 'expression'],
  object({
    ...locations,
    expression: optional(celExpression(), 'CEL expression that returns the credential.'),
  }),
)

/** Where a credential is written for the backend (specification 1, 5.6). */
export const insertionLocation = exactlyOne(['header', 'queryParameter', 'cookie'], object(locations))

export type ExtractionLocationSpec = Parsed<typeof extractionLocation>
export type InsertionLocationSpec = Parsed<typeof insertionLocation>

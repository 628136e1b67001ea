import { JSON_LINE, type LineFormat, TEXT_LINE } from './field-line.ts'
import { shortLine } from './short-line.ts'

/** `short`: for people at a terminal; `short-colored`: with colours. */
export type LogFormat = 'text' | 'json' | 'short' | 'short-colored'

export const LINE_FORMATS: Readonly<Record<LogFormat, LineFormat>> = {
  text: TEXT_LINE,
  json: JSON_LINE,
  short: shortLine(false),
  'short-colored': shortLine(true),
}

import { textAt } from './json/read-value.ts'

/** The text of a message: content is text already, or a list of parts; what is no text is left out. */
export function flattenContent(content: unknown, separator: string): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((part: unknown) => (typeof part === 'string' ? part : (textAt(part, 'text') ?? [])))
    .join(separator)
}

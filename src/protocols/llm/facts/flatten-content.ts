import { textAt } from '../json/read-value.ts'

/** The text of a message. Content is text or a list of parts; parts that are not text are left out. */
export function flattenContent(content: unknown, separator: string): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((part: unknown) => (typeof part === 'string' ? part : (textAt(part, 'text') ?? [])))
    .join(separator)
}

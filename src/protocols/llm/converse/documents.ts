import type { MediaSource } from '../translation/conversation.ts'

export type DocumentFormat = 'pdf' | 'csv' | 'doc' | 'docx' | 'xls' | 'xlsx' | 'html' | 'txt' | 'md'

const FORMATS: Readonly<Record<string, DocumentFormat>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
}

const ENDINGS: Readonly<Record<string, DocumentFormat>> = {
  ...Object.fromEntries(Object.values(FORMATS).map((format) => [format, format])),
  htm: 'html',
  markdown: 'md',
  text: 'txt',
}

/** The format by media type, else by the ending of the name. */
export function documentFormat(source: MediaSource, name: string | undefined): DocumentFormat | undefined {
  if (source.kind === 'data') {
    const mediaType = source.mediaType.split(';', 1)[0]!.trim().toLowerCase()
    if (Object.hasOwn(FORMATS, mediaType)) return FORMATS[mediaType]
  }
  const ending = /\.([a-z]+)$/.exec(name?.toLowerCase() ?? '')?.[1] ?? ''
  if (Object.hasOwn(ENDINGS, ending)) return ENDINGS[ending]
  return source.kind === 'text' ? 'txt' : undefined
}

/** What the API accepts in the name of a document. */
const REFUSED_CHARACTERS = /[^A-Za-z0-9()[\]-]+/g
const MAX_NAME_LENGTH = 200

/** The names of the documents of one request: without characters that the API refuses, and each one different. */
export class DocumentNames {
  /** The next number for a name that is taken. */
  readonly #numbers = new Map<string, number>()

  name(given: string | undefined): string {
    const bare = (given ?? '').replace(REFUSED_CHARACTERS, ' ').trim().slice(0, MAX_NAME_LENGTH).trim()
    const base = bare === '' ? 'document' : bare
    let name = base
    let number = this.#numbers.get(base) ?? 1
    while (this.#numbers.has(name)) {
      number++
      const ending = ` [${number}]`
      name = base.slice(0, MAX_NAME_LENGTH - ending.length).trim() + ending
    }
    this.#numbers.set(base, number)
    if (name !== base) this.#numbers.set(name, 1)
    return name
  }
}

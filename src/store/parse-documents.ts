import {
  type Document,
  type DocumentOptions,
  isScalar,
  type ParseOptions,
  parseAllDocuments,
  type SchemaOptions,
  visit,
  type YAMLMap,
  YAMLParseError,
} from 'yaml'

/**
 * Parses the documents of a YAML text. The library compares each key of a map with all keys before it: a map with 80,000 keys, which fits
 * into the body of a request, takes it minutes. Here the time grows as the text does.
 * @returns the documents, each with its errors in the order of their positions
 */
export function parseDocuments(
  text: string,
  options: ParseOptions & DocumentOptions & SchemaOptions = {},
): readonly Document[] {
  const documents = parseAllDocuments(text, { ...options, uniqueKeys: false }) as readonly Document[]
  for (const document of documents) {
    const at = firstRepeatedKey(document)
    if (at === undefined) continue
    document.errors.push(new YAMLParseError([at, at + 1], 'DUPLICATE_KEY', 'Map keys must be unique'))
    document.errors.sort((a, b) => a.pos[0] - b.pos[0])
  }
  return documents
}

/** The offset of the first key that its map has before. */
function firstRepeatedKey(document: Document): number | undefined {
  let first: number | undefined
  visit(document, {
    Map(_, map) {
      for (const at of repeatedKeys(map)) first = Math.min(first ?? at, at)
    },
  })
  return first
}

function* repeatedKeys({ items }: YAMLMap): Generator<number> {
  const known = new Set<unknown>()
  for (const { key } of items) {
    if (!isScalar(key)) continue
    if (known.has(key.value)) yield key.range?.[0] ?? 0
    known.add(key.value)
  }
}

import {
  type Document,
  type DocumentOptions,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParseOptions,
  parseAllDocuments,
  type SchemaOptions,
  type YAMLMap,
  YAMLParseError,
} from 'yaml'

/** Values that the aliases of a document may add. What reads a document visits each value as often as it is referred to. */
const MAX_REPEATED_VALUES = 1_000_000

/**
 * Parses the documents of a YAML text. The library compares each key of a map with all keys before it: a map with 80,000 keys, which fits
 * into the body of a request, takes it minutes. Here the time grows as the text does. Aliases that the library accepts, but that make a
 * value endless or huge, are errors.
 * @returns the documents, each with its errors in the order of their positions
 */
export function parseDocuments(
  text: string,
  options: ParseOptions & DocumentOptions & SchemaOptions = {},
): readonly Document[] {
  const documents = parseAllDocuments(text, { ...options, uniqueKeys: false }) as readonly Document[]
  for (const document of documents) {
    const errors = new Inspection(document).errors
    if (errors.length === 0) continue
    document.errors.push(...errors)
    document.errors.sort((a, b) => a.pos[0] - b.pos[0])
  }
  return documents
}

/** Finds the errors that the library does not look for: of each sort, the first one. */
class Inspection {
  /** By name of an anchor: how many values its value has, with those of its aliases; undefined: an alias is inside of its own value. */
  readonly #sizes = new Map<string, number | undefined>()
  readonly #first = new Map<string, YAMLParseError>()
  #repeated = 0

  constructor({ contents }: Document) {
    this.#sizeOf(contents)
  }

  get errors(): readonly YAMLParseError[] {
    return [...this.#first.values()]
  }

  #sizeOf(node: unknown): number {
    if (isAlias(node)) return this.#sizeOfAlias(node)
    const { anchor } = (node ?? {}) as { readonly anchor?: string }
    if (anchor !== undefined) this.#sizes.set(anchor, undefined)
    let size = 1
    if (isMap(node)) {
      this.#checkKeys(node)
      for (const { key, value } of node.items) size += this.#sizeOf(key) + this.#sizeOf(value)
    } else if (isSeq(node)) {
      for (const item of node.items) size += this.#sizeOf(item)
    }
    if (anchor !== undefined) this.#sizes.set(anchor, size)
    return size
  }

  #sizeOfAlias({ source, range }: { readonly source: string; readonly range?: readonly number[] | null }): number {
    const at = range?.[0] ?? 0
    // An unknown anchor is reported when the alias is resolved.
    if (!this.#sizes.has(source)) return 1
    const size = this.#sizes.get(source)
    if (size === undefined) {
      this.#report(at, 'BAD_ALIAS', 'this alias is inside the value that its anchor names')
      return 1
    }
    this.#repeated += size
    if (this.#repeated > MAX_REPEATED_VALUES) {
      this.#report(at, 'RESOURCE_EXHAUSTION', `aliases repeat more than ${MAX_REPEATED_VALUES} values`)
    }
    return size
  }

  #checkKeys({ items }: YAMLMap): void {
    const known = new Set<unknown>()
    for (const { key } of items) {
      if (!isScalar(key)) continue
      if (known.has(key.value)) this.#report(key.range?.[0] ?? 0, 'DUPLICATE_KEY', 'Map keys must be unique')
      known.add(key.value)
    }
  }

  #report(at: number, code: YAMLParseError['code'], message: string): void {
    const first = this.#first.get(code)
    if (first === undefined || at < first.pos[0]) this.#first.set(code, new YAMLParseError([at, at + 1], code, message))
  }
}

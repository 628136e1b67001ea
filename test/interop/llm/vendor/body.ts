/** Untrusted JSON, read without types. */
export class Body {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }

  get(...names: readonly (string | number)[]): Body {
    let value = this.value
    for (const name of names) {
      if (typeof value !== 'object' || value === null) return new Body(undefined)
      value = (value as Readonly<Record<string | number, unknown>>)[name]
    }
    return new Body(value)
  }

  get list(): readonly Body[] {
    return Array.isArray(this.value) ? this.value.map((each) => new Body(each)) : []
  }

  get text(): string | undefined {
    return typeof this.value === 'string' ? this.value : undefined
  }

  get number(): number | undefined {
    return typeof this.value === 'number' ? this.value : undefined
  }

  get isThere(): boolean {
    return this.value !== undefined && this.value !== null
  }

  /** Texts of itself or of its parts, joined. */
  get joined(): string {
    return this.text ?? this.list.map((part) => part.get('text').text ?? '').join('')
  }
}

/** The data of a data URL. */
export function dataOf(url: string | undefined): string[] {
  const at = url?.indexOf(';base64,') ?? -1
  return at < 0 ? [] : [url!.slice(at + ';base64,'.length)]
}

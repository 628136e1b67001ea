/** The object that a piece of configuration comes from; shown to users as the source of a setting. */
export interface Origin {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly generation?: number
  /** Path of the file as given by the user, and the line where the object starts (from 1). */
  readonly file?: string
  readonly line?: number
  /** Files that entries of a Secret or ConfigMap are from, by name of the entry. */
  readonly entryFiles?: Readonly<Record<string, string>>
}

/** `ProxyPolicy default/keys (policies.yaml:12)`; `GatewayClass gatewright` for objects without namespace. */
export function describeOrigin(origin: Origin): string {
  const place =
    origin.file === undefined ? '' : ` (${origin.file}${origin.line === undefined ? '' : `:${origin.line}`})`
  const name = origin.namespace === '' ? origin.name : `${origin.namespace}/${origin.name}`
  return `${origin.kind} ${name}${place}`
}

/** A reference to a backend as written: a Service with its port, or a ProxyBackend. */
export interface BackendRef {
  readonly group?: string
  readonly kind?: string
  readonly name: string
  /** Defaults to the namespace of the referring object. */
  readonly namespace?: string
  readonly port?: number
}

/** Key of the `BackendItem` that a reference names. @param namespace of the referring object */
export function backendKey({ kind = 'Service', name, namespace, port }: BackendRef, of: string): string {
  const key = `${kind}/${namespace ?? of}/${name}`
  return kind === 'Service' ? `${key}/${port}` : key
}

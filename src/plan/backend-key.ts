/** A reference to a backend as it is written: a Service with its port, or a ProxyBackend. */
export interface BackendRef {
  readonly group?: string
  readonly kind?: string
  readonly name: string
  /** That of the object that refers, unless it says so. */
  readonly namespace?: string
  readonly port?: number
}

/** Key of the `BackendItem` that a reference names. @param namespace of the object that refers */
export function backendKey({ kind = 'Service', name, namespace, port }: BackendRef, of: string): string {
  const key = `${kind}/${namespace ?? of}/${name}`
  return kind === 'Service' ? `${key}/${port}` : key
}

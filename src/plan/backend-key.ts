/** A reference to a backend as written: a Service with its port, or a ProxyBackend. */
export interface BackendRef {
  readonly group?: string
  readonly kind?: string
  readonly name: string
  /** Defaults to the namespace of the referring object. */
  readonly namespace?: string
  readonly port?: number
}

/** Name of the backend that a part of an object is by itself. No object has a colon in its name. */
export function ownBackendName({ kind, name }: { readonly kind: string; readonly name: string }, path: string): string {
  return `${kind}:${name}:${path}`
}

/** Key of the `BackendItem` that a reference names. @param namespace of the referring object */
export function backendKey({ kind = 'Service', name, namespace, port }: BackendRef, of: string): string {
  const key = `${kind}/${namespace ?? of}/${name}`
  return kind === 'Service' ? `${key}/${port}` : key
}

/** An endpoint of a backend. */
export interface EndpointId {
  /** Key of the backend: `Service/default/web/80`. */
  readonly backend: string
  /** `host:port`, a socket path, or the name of a provider or MCP target. */
  readonly endpoint: string
}

/** Keys of objects contain no space. */
const PREFIX = 'Endpoint '

/** The key of the shared slot with the health of an endpoint. */
export function endpointKey({ backend, endpoint }: EndpointId): string {
  return `${PREFIX}${backend} ${endpoint}`
}

/** @returns undefined for the key of a slot with other state */
export function parseEndpointKey(key: string): EndpointId | undefined {
  if (!key.startsWith(PREFIX)) return undefined
  const end = key.indexOf(' ', PREFIX.length)
  return { backend: key.slice(PREFIX.length, end), endpoint: key.slice(end + 1) }
}

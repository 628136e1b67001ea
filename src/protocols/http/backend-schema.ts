import {
  type ConfigProblem,
  fieldPath,
  formattedText,
  host,
  object,
  optional,
  type Parsed,
  port,
  problem,
  type ScalarRefusal,
  withRule,
} from '#schema/index.ts'

/** Longest path of a socket that the kernel accepts. */
const MAX_SOCKET_PATH_BYTES = 107

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const SOCKET_PATH = /^\/[^\x00-\x1f\x7f-\x9f]*$/

function checkSocketPath(path: string): ScalarRefusal | undefined {
  if (!path.startsWith('/')) return { code: 'invalid-path', message: 'must be an absolute path' }
  if (/\p{Cc}/u.test(path)) return { code: 'invalid-path', message: 'must not contain control characters' }
  const bytes = new TextEncoder().encode(path).length
  if (bytes <= MAX_SOCKET_PATH_BYTES) return undefined
  return { code: 'too-long', message: `must have at most ${MAX_SOCKET_PATH_BYTES} bytes; it has ${bytes}` }
}

interface Address {
  readonly host?: unknown
  readonly port?: unknown
  readonly unixPath?: unknown
}

function checkOneAddress(spec: Address, path: string): readonly ConfigProblem[] {
  if (spec.unixPath !== undefined) {
    return (['host', 'port'] as const)
      .filter((field) => spec[field] !== undefined)
      .map((field) =>
        problem(fieldPath(path, field), 'not-together', 'unixPath cannot be set together with host or port'),
      )
  }
  if (spec.host !== undefined && spec.port !== undefined) return []
  return [problem(path, 'exactly-one-of', 'must set either unixPath or both host and port')]
}

/** `ProxyBackend.spec.static` (specification 1, 2.3.1). */
export const staticBackend = withRule(
  object({
    host: optional(host(), 'Hostname or IP address.'),
    port: optional(port(), 'TCP port.'),
    unixPath: optional(
      formattedText({ min: 1, pattern: SOCKET_PATH }, checkSocketPath),
      'Path of a Unix domain socket, as an alternative to host and port. The gateway must share a volume with the server.',
    ),
  }),
  {
    reads: [],
    description: 'Set either unixPath, or host and port.',
    check: checkOneAddress,
    onServer: 'has(self.unixPath) ? !has(self.host) && !has(self.port) : has(self.host) && has(self.port)',
  },
)

export type StaticBackendSpec = Parsed<typeof staticBackend>

/** `ProxyBackend.spec.dynamicForwardProxy` (specification 1, 2.3). */
export const dynamicForwardProxyBackend = object({})

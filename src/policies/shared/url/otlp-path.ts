import { type ConfigProblem, fieldPath, problem } from '#schema/index.ts'

interface OtlpTransport {
  readonly protocol: 'HTTP' | 'GRPC'
  readonly path?: string | undefined
}

/** `checkOtlpPath` for API servers. */
export const OTLP_PATH_ON_SERVER = "!has(self.path) || self.protocol == 'HTTP' && self.path.startsWith('/')"

/** The rule that relates `path` to `protocol`, shared by log and trace export. */
export function checkOtlpPath({ protocol, path }: OtlpTransport, at: string): readonly ConfigProblem[] {
  if (path === undefined) return []
  if (protocol !== 'HTTP')
    return [problem(fieldPath(at, 'path'), 'not-together', 'path can only be set with protocol HTTP')]
  if (!path.startsWith('/')) return [problem(fieldPath(at, 'path'), 'invalid-path', 'path must start with /')]
  return []
}

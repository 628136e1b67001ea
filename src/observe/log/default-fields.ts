/** What a line of JSON begins with; no attribute may repeat them. */
export const STARTS_LINE: ReadonlySet<string> = new Set(['level', 'time', 'scope'])

/** Every field that lines of the access log have by themselves (docs/behaviour/http.md, "Access log"). */
const DEFAULT_FIELDS = [
  'gateway',
  'listener',
  'route_rule',
  'route',
  'endpoint',
  'src.addr',
  'src.identity',
  'http.method',
  'http.host',
  'http.path',
  'http.version',
  'http.status',
  'grpc.status',
  'tls.sni',
  'jwt.iss',
  'jwt.sub',
  'protocol',
  'a2a.method',
  'mcp.method.name',
  'mcp.target',
  'mcp.resource.type',
  'gen_ai.tool.name',
  'gen_ai.prompt.name',
  'mcp.resource.uri',
  'mcp.session.id',
  'mcp.error.code',
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.reasoning_tokens',
  'gen_ai.usage.output_image_tokens',
  'gen_ai.usage.input_audio_tokens',
  'gen_ai.usage.output_audio_tokens',
  'gen_ai.request.temperature',
  'gen_ai.request.top_p',
  'gen_ai.request.max_tokens',
  'gen_ai.request.frequency_penalty',
  'gen_ai.request.presence_penalty',
  'gen_ai.request.seed',
  'gen_ai.request.encoding_formats',
  'gen_ai.embeddings.dimension.count',
  'gatewright.ai.time_to_first_token',
  'gatewright.ai.time_per_output_token',
  'retry.attempt',
  'retry.replayed',
  'retry.maybe_processed',
  'upstream.failure',
  'error',
  'reason',
  'code',
  'decision',
  'duration',
] as const

export type DefaultField = (typeof DEFAULT_FIELDS)[number]

/** Which of them a line is without: those that are removed, and those whose place an added field of the same name takes. */
export function removedFields(removed: readonly string[], added: readonly string[]): ReadonlySet<string> {
  const given = new Set([...removed, ...added])
  return new Set(DEFAULT_FIELDS.filter((name) => given.has(name)))
}

/** Whether members of an added value, `<name>.<member>`, may have the name of one of them. */
export function mayCoverFields(added: readonly string[]): boolean {
  return DEFAULT_FIELDS.some((field) => added.some((name) => field.startsWith(`${name}.`)))
}

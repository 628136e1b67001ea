import { enumOf, integer, object, optional, type Parsed, text } from '#schema/index.ts'

/** The content of `rawConfig` (decision A-121). */
export const rawConfig = object({
  logging: optional(
    object({
      level: optional(text(), 'As logging.level, which takes precedence.'),
      format: optional(enumOf('json', 'text'), 'As logging.format, which takes precedence.'),
    }),
    'Logging of the proxy.',
  ),
  accessLog: optional(text({ min: 1 }), 'File of the access log.'),
  adminAddress: optional(text({ min: 1 }), 'Address of the admin server.'),
  metricsAddress: optional(text({ min: 1 }), 'Address of the metrics server.'),
  readinessAddress: optional(text({ min: 1 }), 'Address of the readiness server.'),
  bodyMemory: optional(text({ min: 1 }), 'Memory that buffered bodies may use in each worker.'),
  prices: optional(text({ min: 1 }), 'File with prices of models, which take precedence over the built-in ones.'),
  transport: optional(enumOf('auto', 'streams'), 'Transport of connections without TLS.'),
  workers: optional(integer({ min: 1, max: 256 }), 'Number of proxy threads.'),
})

export type RawConfig = Parsed<typeof rawConfig>

import type { LogFields } from '#observe/log/application-log.ts'

/** Redirects the warnings of the runtime in this thread, which it would print as text. */
export function catchWarnings(take: (fields: LogFields) => void): void {
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message, ...more }) => {
    const { code } = more as { readonly code?: unknown }
    take({ name, code: typeof code === 'string' ? code : undefined, cause: message })
  })
}

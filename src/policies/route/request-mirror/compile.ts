import type { CompileContext, PolicySource } from '../../policy.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'

/** Mirrored requests are not sent yet. The request itself is not affected. */
export function compileRequestMirror(sources: readonly PolicySource<unknown>[], context: CompileContext): undefined {
  for (const source of sources) reportNotImplemented(context, source, '', 'no copies are sent')
  return undefined
}
